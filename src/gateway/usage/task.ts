import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { StoreUnavailable } from '../admission/port.js';
import type { Settings } from '../config/settings.js';
import type { ReportRange } from './range.js';
import type { Format } from './write.js';

/** One report for a process of its own. */
export interface Task {
  readonly format: Format;
  readonly range: ReportRange;
  readonly settings: Pick<Settings, 'dataFolder' | 'store'>;
}

/**
 * The report may hold a processor that the gateway wants only for moments: no threads that collect its
 * garbage beside it, and little of it at a time.
 */
const NODE_OPTIONS = ['--single-threaded-gc', '--max-semi-space-size=2', '--max-old-space-size=128'];
const PROGRAM = fileURLToPath(new URL('./process.js', import.meta.url));
const REASON_CHARACTERS = 500;

/**
 * The report as bytes, made by a process of its own that ends with it. Rejects with StoreUnavailable when
 * that process fails. A reader that stops early ends it.
 */
export async function* runTask(task: Task): AsyncGenerator<Buffer, void> {
  const child = spawn(process.execPath, [...NODE_OPTIONS, PROGRAM], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: childEnvironment(),
  });
  // From its first moment on, so that all its threads have it: the gateway goes first on every processor.
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  const ended = once(child, 'close') as Promise<[code: number | null]>;
  // Reported by `ended`, which rejects as well when there is no such process.
  ended.catch(() => undefined);
  let reason = '';
  child.stderr.on('data', (chunk: Buffer) => (reason = (reason + chunk.toString()).slice(0, REASON_CHARACTERS)));
  child.stdin.on('error', () => undefined).end(JSON.stringify(task));
  try {
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) yield chunk;
    const [code] = await ended;
    if (code !== 0)
      throw new StoreUnavailable(reason === '' ? `the report's process ended with ${code ?? 'a signal'}` : reason);
  } finally {
    child.kill('SIGKILL');
  }
}

/** No secret of the gateway, only what TLS to Redis may need. */
function childEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'].flatMap((name) =>
      process.env[name] === undefined ? [] : [[name, process.env[name]]],
    ),
  );
}
