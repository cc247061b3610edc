import { Cluster } from 'ioredis';
import type { Log } from '../../../../shared/log.js';
import { StoreUnavailable } from '../../port.js';
import type { Client } from './connect.js';
import { Lane } from './lane.js';
import { neighbourOf } from './names.js';
import type { Script } from './script.js';
import { slotOf } from './slot.js';

export type Argument = string | Buffer;
/** The script that proves a node can decide: keys and arguments of a run that changes nothing. */
export interface Probe {
  readonly script: Script;
  readonly args: readonly string[];
}

const CLOCK_BYTES = 8;
/** Members read at once from a sorted set. */
const IDS_AT_ONCE = 64;
/** Answers that say the whole node cannot serve; any other error is about one key or one call. */
const NODE_ERRORS = /^(OOM|READONLY|MISCONF|NOREPLICAS|LOADING|CLUSTERDOWN|MASTERDOWN|BUSY|NOAUTH|WRONGPASS|NOPERM|UNBLOCKED)$/;
/** Of these, the ones that Redis gives before it begins to run a script. */
const REFUSALS = /^(OOM|READONLY|MISCONF|NOREPLICAS|LOADING|MASTERDOWN|BUSY|NOAUTH|WRONGPASS)$/;
const REDIS_WORD = /^[A-Z]+(?= )/;
const REDIAL_MS = 50;
/** The probe may come late: it changes nothing. */
const ANY_TIME = '9000000000000000';

/**
 * Calls to Redis, each with a hard deadline and one lane per node.
 * Every method rejects with StoreUnavailable and nothing else.
 */
export class Link {
  readonly #client: Client;
  readonly #deadlineMs: number;
  readonly #probe: () => Probe;
  readonly #log: Log | undefined;
  readonly #lanes = new Map<string, Lane>();
  #closed = false;
  /** Why dialling failed last. */
  #trouble: string | undefined;

  constructor(client: Client, deadlineMs: number, probe: () => Probe, log: Log | undefined) {
    this.#client = client;
    this.#deadlineMs = deadlineMs;
    this.#probe = probe;
    this.#log = log;
    const remember = (error: unknown): void => void (this.#trouble = codeOf(error));
    client.on('error', remember);
    client.on('node error', remember);
    client.on('ready', () => (this.#trouble = undefined));
    // ioredis gives up for good when a failover is told while it is dialling.
    client.on('end', () => setTimeout(() => this.#redial(), REDIAL_MS));
  }

  get cluster(): boolean {
    return this.#client.isCluster;
  }

  /** Whether every node asked so far answers. */
  get up(): boolean {
    return [...this.#lanes.values()].every((lane) => lane.up);
  }

  /** Runs a script on the node of keys[0]; all keys share one hash tag in a Cluster. Its answer, without the clock. */
  async run(script: Script, keys: readonly string[], args: readonly Argument[]): Promise<Buffer> {
    const startedMs = performance.now();
    const lane = this.#laneOf(keys[0] ?? '');
    if (!lane.up) await lane.ready();
    const untilMs = startedMs + this.#deadlineMs;
    const answer = await this.#evaluate(lane, script, keys, args, untilMs);
    // Late by the store's clock: nothing was done. The clock was set forward, or the answer tells the truth.
    return answer ?? (await this.#evaluate(lane, script, keys, args, untilMs)) ?? unavailable('the call reached Redis too late', true);
  }

  /** All fields of a hash; empty when there is none. */
  async hash(key: string): Promise<ReadonlyMap<string, string>> {
    const fields = (await this.command('hgetall', key)) as Record<string, Buffer>;
    return new Map(Object.entries(fields).map(([name, value]) => [name, value.toString()]));
  }

  /** A plain command on the node of `key`. */
  async command(name: string, key: string, ...args: readonly Argument[]): Promise<unknown> {
    const lane = this.#laneOf(key);
    await lane.ready();
    return this.#guarded(lane, () => this.#send(name, [key, ...args]), this.#deadlineMs);
  }

  /** Members of the sorted set `key` after `afterId`, in order, some at a time. */
  async *idsIn(key: string, afterId: string | null): AsyncGenerator<readonly string[]> {
    for (let after = afterId; ; ) {
      const from = after === null ? '-' : `(${after}`;
      const found = (await this.command('zrangebylex', key, from, '+', 'LIMIT', '0', IDS_AT_ONCE.toString())) as Buffer[];
      if (found.length === 0) return;
      const ids = found.map((id) => id.toString());
      yield ids;
      after = ids.at(-1) ?? null;
    }
  }

  /** Runs the probe on the node of `key`, and asks that every node known so far is up. */
  async check(key: string): Promise<void> {
    const lane = this.#laneOf(key);
    await lane.ready();
    await this.#runProbe(lane, key);
    for (const each of this.#lanes.values()) if (!each.up) await each.ready();
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const lane of this.#lanes.values()) lane.close();
    if (this.#client.status === 'ready') await within(this.#client.quit(), this.#deadlineMs).catch(() => undefined);
    this.#client.disconnect();
  }

  #redial(): void {
    if (!this.#closed) this.#client.connect().catch(() => undefined);
  }

  #laneOf(key: string): Lane {
    const name = this.#client instanceof Cluster ? (this.#client.slots[slotOf(key)]?.[0] ?? '') : '';
    const known = this.#lanes.get(name);
    if (known !== undefined) return known;
    const lane: Lane = new Lane(() => this.#runProbe(lane, key), this.#deadlineMs, (up, reason) => this.#report(name, up, reason));
    this.#lanes.set(name, lane);
    return lane;
  }

  /** undefined: the call came too late and did nothing. */
  async #evaluate(lane: Lane, script: Script, keys: readonly string[], args: readonly Argument[], untilMs: number): Promise<Buffer | undefined> {
    const guard = lane.clock.at(untilMs) ?? unavailable('the connection was lost', true);
    const answer = await this.#guarded(lane, () => this.#eval(script, keys, guard.toString(), args), untilMs - performance.now());
    lane.clock.note(answer.readDoubleLE(0), performance.now());
    return answer.length > CLOCK_BYTES ? answer.subarray(CLOCK_BYTES) : undefined;
  }

  async #runProbe(lane: Lane, key: string): Promise<void> {
    const { script, args } = this.#probe();
    try {
      const answer = await within(this.#eval(script, [neighbourOf(key)], ANY_TIME, args), this.#deadlineMs);
      lane.clock.note(answer.readDoubleLE(0), performance.now());
    } catch (error) {
      const reason = this.#reasonOf(error);
      lane.fail(reason);
      unavailable(reason);
    }
  }

  async #guarded<T>(lane: Lane, call: () => Promise<T>, ms: number): Promise<T> {
    try {
      return await within(call(), ms);
    } catch (error) {
      const reason = this.#reasonOf(error);
      if (isNodeError(error)) lane.fail(reason);
      return unavailable(reason, error instanceof Unsent || REFUSALS.test(wordOf(error) ?? ''));
    }
  }

  async #eval(script: Script, keys: readonly string[], guard: string, args: readonly Argument[]): Promise<Buffer> {
    const rest: Argument[] = [keys.length.toString(), ...keys, guard, ...args];
    try {
      return (await this.#send('evalsha', [script.sha, ...rest])) as Buffer;
    } catch (error) {
      // Redis forgets scripts when it restarts, fails over or is told to; it has done nothing yet.
      if (wordOf(error) !== 'NOSCRIPT') throw error;
      return (await this.#send('eval', [script.text, ...rest])) as Buffer;
    }
  }

  #send(name: string, args: Argument[]): Promise<unknown> {
    // A Cluster client would queue the command for as long as the Cluster is away.
    if (this.#client.status !== 'ready') return Promise.reject(new Unsent());
    return this.#client.callBuffer(name, args);
  }

  /** For people. Never the error itself: ioredis hangs the command's arguments on it. */
  #reasonOf(error: unknown): string {
    if (error instanceof Overdue) return 'Redis did not answer in time';
    const code = wordOf(error) ?? this.#trouble;
    if (code === undefined) return 'no connection to Redis';
    if (code === 'OOM') return 'Redis is out of memory (OOM): raise its maxmemory';
    if (code === 'NOAUTH' || code === 'WRONGPASS' || code === 'NOPERM') return `Redis refuses our user (${code}): check user, password and rights in REDIS_URL`;
    return wordOf(error) === undefined ? `no connection to Redis (${code})` : `Redis answered ${code}`;
  }

  #report(node: string, up: boolean, reason: string): void {
    const about = { engine: 'redis', ...(node === '' ? {} : { node }) };
    if (up) this.#log?.info(about, 'store is there');
    else this.#log?.warn({ ...about, reason }, 'store is away');
  }
}

class Overdue extends Error {}
/** There was no connection, and nothing was sent. */
class Unsent extends Error {}

/** Rejects when `call` takes longer than `ms`; the call itself cannot be taken back. */
function within<T>(call: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    // After a stall of our own loop the timer comes before the answer that waits in the socket: let that in first.
    const timer = setTimeout(() => setImmediate(() => reject(new Overdue())), Math.max(ms, 0));
    call.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function unavailable(reason: string, untouched = false): never {
  throw new StoreUnavailable(reason, { untouched });
}

/** First word of a Redis error, such as OOM; also when a script passed it on. */
function wordOf(error: unknown): string | undefined {
  return error instanceof Error ? REDIS_WORD.exec(error.message)?.[0] : undefined;
}

/** ECONNREFUSED, DEPTH_ZERO_SELF_SIGNED_CERT, WRONGPASS and the like. */
function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : wordOf(error);
}

function isNodeError(error: unknown): boolean {
  const word = wordOf(error);
  return word === undefined || NODE_ERRORS.test(word);
}
