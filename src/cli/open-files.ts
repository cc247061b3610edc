import { readFileSync } from 'node:fs';
import { CommandError } from './command-error.js';

/** Fewer are not enough to load a program, whose modules are read together. */
const LEAST = 256;

/** Throws CommandError where a program may open too few files to start at all. */
export function checkOpenFiles(): void {
  const limit = openFilesLimit();
  if (limit < LEAST) throw tooFew(limit);
}

/** What an error says of it; undefined of any other error. */
export function asTooFew(error: unknown): CommandError | undefined {
  const isIt = error instanceof Error && (error as NodeJS.ErrnoException).code === 'EMFILE';
  return isIt ? tooFew(openFilesLimit()) : undefined;
}

function tooFew(limit: number): CommandError {
  const files = Number.isFinite(limit) ? `only ${limit} files` : 'only a few files';
  return new CommandError(
    `This process may open ${files} at a time. A program needs ${LEAST} to start, and one more for each connection: ` +
      'raise the limit, such as to 65536 (ulimit -n, LimitNOFILE of systemd, --ulimit nofile of Docker).',
  );
}

/** The soft limit; infinite where the system does not say it. */
function openFilesLimit(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? Infinity : Number(soft);
  } catch {
    return Infinity;
  }
}
