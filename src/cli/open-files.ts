import { readFileSync } from 'node:fs';
import { CommandError } from './terminal/command-error.js';

/** A program cannot load with fewer: it opens its modules at the same time. */
const LEAST = 256;

/** Throws CommandError if this process may open too few files for a program to start. */
export function checkOpenFiles(): void {
  const limit = openFilesLimit();
  if (limit < LEAST) throw tooFew(limit);
}

/** Returns the CommandError for EMFILE; undefined for any other error. */
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

/** Returns the soft limit; Infinity if the system does not report it. */
function openFilesLimit(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? Infinity : Number(soft);
  } catch {
    return Infinity;
  }
}
