import { setTimeout as sleep } from 'node:timers/promises';
import { StoreUnavailable } from '../../../admission/port.js';
import { Overdue } from './health.js';
import { doneIn } from './script.js';

/** How long late responses to abandoned calls are read. */
export const LATE_MS = 10_000;
/** This Redis is not the store that this gateway knows, or has lost data (identity.ts). */
export class NotOurs extends Error {}

/** Nothing was sent, because there was no connection. */
export class Unsent extends Error {}

/** Errors that mean the whole node cannot serve; any other is about one key or one call. */
const NODE_ERRORS =
  /^(OOM|READONLY|MISCONF|NOREPLICAS|LOADING|CLUSTERDOWN|MASTERDOWN|BUSY|NOAUTH|WRONGPASS|NOPERM|UNBLOCKED)$/;
/** Errors that Redis returns before it begins to run a script. */
const REFUSALS =
  /^(OOM|READONLY|MISCONF|NOREPLICAS|LOADING|MASTERDOWN|BUSY|NOAUTH|WRONGPASS|CLUSTERDOWN|TRYAGAIN|ASK|MOVED)$/;
const REDIS_WORD = /^[A-Z]+(?= )/;
const REDIRECTION = /^(ASK|MOVED) (\d+) (\S*:\d+)$/;
const COMPILING = /^ERR Error compiling script/;
/** From ioredis: the command was neither sent nor queued. */
const NOT_WRITTEN = /^Stream isn't writeable/;

/** Returns the first word of a Redis error, such as OOM, also if a script passed it on. */
export function wordOf(error: unknown): string | undefined {
  return error instanceof Error ? REDIS_WORD.exec(error.message)?.[0] : undefined;
}

/** Returns the code of an error, such as ECONNREFUSED, DEPTH_ZERO_SELF_SIGNED_CERT or WRONGPASS. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : wordOf(error);
}

/** Returns whether the error is about the whole node: it cannot serve, or cannot be reached. */
export function isNodeError(error: unknown): boolean {
  const word = wordOf(error);
  return word === undefined ? !(error instanceof Overdue) : NODE_ERRORS.test(word);
}

/** Returns whether the call certainly had no effect and will have none. */
export function hadNoEffect(error: unknown): boolean {
  if (error instanceof Unsent) return true;
  const word = wordOf(error) ?? '';
  return REFUSALS.test(word) || (error instanceof Error && NOT_WRITTEN.test(error.message));
}

/** Returns why Redis rejects a script; undefined if the error is about something else. */
export function refusalOf(error: unknown): string | undefined {
  const word = wordOf(error);
  return error instanceof Error && (word === 'ERR' || word === 'NOPERM') ? error.message : undefined;
}

export interface Redirection {
  readonly word: 'ASK' | 'MOVED';
  readonly slot: number;
  /** `host:port`, or `:port` of the same host. */
  readonly address: string;
}

/** Returns where a node of a Cluster redirects a call; undefined if the error is none. */
export function redirectionOf(error: unknown): Redirection | undefined {
  const [, word, slot, address = ''] = (error instanceof Error ? REDIRECTION.exec(error.message) : null) ?? [];
  return word === 'ASK' || word === 'MOVED' ? { word, slot: Number(slot), address } : undefined;
}

/**
 * Returns the reason as text for people, never the error itself: ioredis attaches the command's arguments to it.
 * @param lastError why dialing failed last
 */
export function reasonOf(error: unknown, lastError: string | undefined): string {
  if (error instanceof NotOurs) return error.message;
  if (error instanceof Overdue) return 'Redis did not respond in time';
  const word = wordOf(error);
  const code = word ?? lastError;
  if (code === undefined) return 'no connection to Redis';
  if (code === 'TRYAGAIN' || code === 'ASK') return 'the key is being moved to another node of the Cluster';
  if (code === 'OOM') return 'Redis is out of memory (OOM): raise its maxmemory';
  if (code === 'NOAUTH' || code === 'WRONGPASS' || code === 'NOPERM')
    return `Redis refuses the user (${code}): check its name and password in REDIS_URL, and its permissions`;
  if (word === undefined) return `no connection to Redis (${code})`;
  return COMPILING.test((error as Error).message)
    ? `Redis refuses the admission script: fewer plans or operation costs make it smaller (${(error as Error).message})`
    : `Redis returned ${code}`;
}

/** A call that may have been executed. */
export class Unanswered extends StoreUnavailable {
  readonly #call: Promise<unknown> | null;

  /** @param call under way; null if its connection was lost */
  constructor(message: string, call: Promise<unknown> | null) {
    super(message);
    this.#call = call;
  }

  /**
   * Waits up to `LATE_MS` for the late response of a script; returns it without the clock. `undone` if the call
   * certainly had no effect.
   */
  async answer(): Promise<Buffer | 'undone' | 'unknown'> {
    if (this.#call === null) return 'unknown';
    const waited = new AbortController();
    try {
      const answer = await Promise.race([this.#call, sleep(LATE_MS, undefined, { ref: false, signal: waited.signal })]);
      return answer instanceof Buffer ? (doneIn(answer) ?? 'undone') : 'unknown';
    } catch (error) {
      return hadNoEffect(error) ? 'undone' : 'unknown';
    } finally {
      waited.abort();
    }
  }
}
