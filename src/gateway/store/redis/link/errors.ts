import { setTimeout as sleep } from 'node:timers/promises';
import { StoreUnavailable } from '../../../admission/port.js';
import { Overdue } from './health.js';
import { doneIn } from './script.js';

/** How long responses to abandoned calls are still read. */
export const LATE_MS = 10_000;
/** This Redis is not the store that is known here, or has lost its data (identity.ts). */
export class NotOurs extends Error {}

/** There was no connection, and nothing was sent. */
export class Unsent extends Error {}

/** Responses that mean the whole node cannot serve; any other error is about one key or one call. */
const NODE_ERRORS =
  /^(OOM|READONLY|MISCONF|NOREPLICAS|LOADING|CLUSTERDOWN|MASTERDOWN|BUSY|NOAUTH|WRONGPASS|NOPERM|UNBLOCKED)$/;
/** Responses that Redis gives before it begins to run a script. */
const REFUSALS =
  /^(OOM|READONLY|MISCONF|NOREPLICAS|LOADING|MASTERDOWN|BUSY|NOAUTH|WRONGPASS|CLUSTERDOWN|TRYAGAIN|ASK|MOVED)$/;
const REDIS_WORD = /^[A-Z]+(?= )/;
const REDIRECTION = /^(ASK|MOVED) (\d+) (\S*:\d+)$/;
const COMPILING = /^ERR Error compiling script/;
/** From ioredis: the command was neither sent nor queued. */
const NOT_WRITTEN = /^Stream isn't writeable/;

/** First word of a Redis error, such as OOM; also if a script passed it on. */
export function wordOf(error: unknown): string | undefined {
  return error instanceof Error ? REDIS_WORD.exec(error.message)?.[0] : undefined;
}

/** ECONNREFUSED, DEPTH_ZERO_SELF_SIGNED_CERT, WRONGPASS and the like. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : wordOf(error);
}

/** Whether the error is about the whole node: its response, or that it cannot be reached. */
export function isNodeError(error: unknown): boolean {
  const word = wordOf(error);
  return word === undefined ? !(error instanceof Overdue) : NODE_ERRORS.test(word);
}

/** The call had no effect and will have none. */
export function hadNoEffect(error: unknown): boolean {
  if (error instanceof Unsent) return true;
  const word = wordOf(error) ?? '';
  return REFUSALS.test(word) || (error instanceof Error && NOT_WRITTEN.test(error.message));
}

/** Why Redis rejects a script; undefined if the error is about something else. */
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

/** Where a node of a Cluster redirects a call. */
export function redirectionOf(error: unknown): Redirection | undefined {
  const [, word, slot, address = ''] = (error instanceof Error ? REDIRECTION.exec(error.message) : null) ?? [];
  return word === 'ASK' || word === 'MOVED' ? { word, slot: Number(slot), address } : undefined;
}

/**
 * Returns the reason, for people. Never the error itself: ioredis attaches the command's arguments to it.
 * @param lastError why dialing failed last
 */
export function reasonOf(error: unknown, lastError: string | undefined): string {
  if (error instanceof NotOurs) return error.message;
  if (error instanceof Overdue) return 'Redis did not respond in time';
  const word = wordOf(error);
  const code = word ?? lastError;
  if (code === undefined) return 'no connection to Redis';
  if (code === 'TRYAGAIN' || code === 'ASK') return 'the key is on its way to another node of the Cluster';
  if (code === 'OOM') return 'Redis is out of memory (OOM): raise its maxmemory';
  if (code === 'NOAUTH' || code === 'WRONGPASS' || code === 'NOPERM')
    return `Redis refuses our user (${code}): check user, password and rights in REDIS_URL`;
  if (word === undefined) return `no connection to Redis (${code})`;
  return COMPILING.test((error as Error).message)
    ? `Redis refuses the admission script: fewer plans, or fewer prices, make it smaller (${(error as Error).message})`
    : `Redis answered ${code}`;
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
   * Waits for the late response of a script as long as it may arrive; returns it without the clock. `undone` if the
   * call certainly had no effect.
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
