import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { StoreUnavailable } from '../admission/port.js';
import { ArchiveUnavailable } from './archive/errors.js';
import type { LedgerSettings } from './ledger.js';
import type { ReportRange } from './range.js';
import type { LedgerScript } from './rehearsal/ledger/script.js';
import type { Format } from './report.js';

/** What a process of its own does; its event loop and memory are not the gateway's. */
export type Task = ReportTask | RehearsalTask | ArchiveTask;

/** Writes a report. */
export interface ReportTask {
  readonly kind: 'report';
  readonly format: Format;
  readonly range: ReportRange;
  readonly settings: LedgerSettings;
}

/** Tries plans on a month of the ledger; it answers in JSON. */
export interface RehearsalTask {
  readonly kind: 'rehearsal';
  readonly script: LedgerScript;
  readonly settings: LedgerSettings;
}

/** Does something with the archive; it answers in JSON, a line for each day or one for all. */
export interface ArchiveTask {
  readonly kind: 'status' | 'move' | 'verify' | 'restore' | 'accept';
  /** UTC days, both included; all where they are left out. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly settings: LedgerSettings;
}

/** It may hold a processor only while the gateway does not want it: no threads for garbage, and little of it. */
const NODE_FLAGS = ['--single-threaded-gc', '--max-semi-space-size=2', '--max-old-space-size=128'];
const PROGRAM = fileURLToPath(new URL('./process.js', import.meta.url));
const REASON_CHARACTERS = 500;
/** How the program reports that the archive is at fault, not the store. */
const ARCHIVE_FAULT = 'archive: ';

/**
 * What the process writes, which ends with the task; it is given that on its standard input, because no command line
 * may hold an address with a password. Rejects with StoreUnavailable or ArchiveUnavailable when it fails. A reader that
 * stops early ends it, also while it waits for the next piece.
 */
export function runTask(task: Task): AsyncGenerator<Buffer, void> {
  const running = new AbortController();
  const pieces = piecesOf(task, running.signal);
  const end = (): void => running.abort();
  return {
    next: () => pieces.next(),
    return: (value) => (end(), pieces.return(value)),
    throw: (error) => (end(), pieces.throw(error)),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

async function* piecesOf(task: Task, ending: AbortSignal): AsyncGenerator<Buffer, void> {
  const child = spawn(process.execPath, [...NODE_FLAGS, PROGRAM], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: childEnvironment(),
  });
  ending.addEventListener('abort', () => child.kill('SIGKILL'), { once: true });
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
    if (code !== 0) throw failureOf(reason === '' ? `the process ended with ${code ?? 'a signal'}` : reason);
  } finally {
    child.kill('SIGKILL');
  }
}

function failureOf(reason: string): Error {
  return reason.startsWith(ARCHIVE_FAULT)
    ? new ArchiveUnavailable(reason.slice(ARCHIVE_FAULT.length))
    : new StoreUnavailable(reason);
}

/** What the program writes for `failureOf`. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.name.startsWith('Archive') ? `${ARCHIVE_FAULT}${error.message}` : error.message;
}

/** No secret of the gateway, only what TLS to Redis and PostgreSQL may need. */
function childEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'].flatMap((name) =>
      process.env[name] === undefined ? [] : [[name, process.env[name]]],
    ),
  );
}
