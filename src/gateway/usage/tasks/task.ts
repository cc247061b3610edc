import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { serialize } from 'node:v8';
import { StoreUnavailable } from '../../admission/port.js';
import { ArchiveUnavailable } from '../archive/errors.js';
import type { LedgerSettings } from '../archive/ledger.js';
import type { ReportRange } from '../grouping/range.js';
import type { LedgerScript } from '../rehearsal/ledger/rehearse.js';
import type { Format } from '../report-text.js';

/** A task for a separate process, with its own event loop and memory. */
export type Task = ReportTask | RehearsalTask | ArchiveTask;

export interface ReportTask {
  readonly kind: 'report';
  readonly format: Format;
  readonly range: ReportRange;
  readonly settings: LedgerSettings;
}

/** Rehearses plans on a month of the ledger; writes JSON. */
export interface RehearsalTask {
  readonly kind: 'rehearsal';
  readonly script: LedgerScript;
  readonly settings: LedgerSettings;
}

/** Inspects or changes the archive; writes JSON, one line per day or a single one. */
export interface ArchiveTask {
  readonly kind: 'status' | 'move' | 'verify' | 'restore' | 'accept';
  /** UTC days, inclusive; all if absent. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly settings: LedgerSettings;
}

/** Leaves CPU to the gateway: no garbage collection threads, and little memory. */
const NODE_FLAGS = ['--single-threaded-gc', '--max-semi-space-size=2', '--max-old-space-size=128'];
const PROGRAM = fileURLToPath(new URL('./task-process.js', import.meta.url));
const REASON_CHARACTERS = 500;
/** Prefix that tells errors of the archive from those of the store. */
const ARCHIVE_FAULT = 'archive: ';

/**
 * Runs a task and yields its output. Passes the task on standard input, because a command line would reveal passwords
 * in URLs. Rejects with StoreUnavailable or ArchiveUnavailable if the task fails. A reader that stops early kills the
 * process, even while waiting for the next piece.
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
  // Set immediately, so that all its threads inherit the low priority: the gateway comes first.
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  const ended = once(child, 'close') as Promise<[code: number | null]>;
  // Reported by `ended`, which also rejects if the process could not start.
  ended.catch(() => undefined);
  let reason = '';
  child.stderr.on('data', (chunk: Buffer) => (reason = (reason + chunk.toString()).slice(0, REASON_CHARACTERS)));
  child.stdin.on('error', () => undefined).end(serialize(task));
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

/** Formats an error so that `failureOf` can restore its kind. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.name.startsWith('Archive') ? `${ARCHIVE_FAULT}${error.message}` : error.message;
}

/** Returns only what TLS to Redis and PostgreSQL may need, without the gateway's secrets. */
function childEnvironment(): NodeJS.ProcessEnv {
  const { NODE_EXTRA_CA_CERTS, SSL_CERT_FILE, SSL_CERT_DIR } = process.env;
  return { NODE_EXTRA_CA_CERTS, SSL_CERT_FILE, SSL_CERT_DIR };
}
