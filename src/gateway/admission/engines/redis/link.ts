import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../../../shared/log.js';
import { StoreUnavailable } from '../../port.js';
import type { Client } from './connect.js';
import { Lane } from './lane.js';
import { Nodes } from './nodes.js';
import type { Script } from './script.js';

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
const REFUSALS = /^(OOM|READONLY|MISCONF|NOREPLICAS|LOADING|MASTERDOWN|BUSY|NOAUTH|WRONGPASS|CLUSTERDOWN|TRYAGAIN|ASK|MOVED)$/;
/** Of a slot that moves, or that nobody has for a moment: soon another answer is given. */
const PASSING = /^(TRYAGAIN|CLUSTERDOWN)$/;
const REDIRECTION = /^(ASK|MOVED) (\d+) (\S*:\d+)$/;
const AGAIN_MS = 5;
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
  readonly #nodes: Nodes;
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
    this.#nodes = new Nodes(client, remember, (name) => this.#lanes.get(name)?.up ?? false, (name) => this.#forget(name));
  }

  get cluster(): boolean {
    return this.#client.isCluster;
  }

  /** Whether every node asked so far answers. */
  get up(): boolean {
    return [...this.#lanes.values()].every((lane) => lane.up);
  }

  /** Runs a script on the node of keys[0]; all keys share one hash tag in a Cluster. Its answer, without the clock. */
  run(script: Script, keys: readonly string[], args: readonly Argument[]): Promise<Buffer> {
    return this.#onNodeOf(keys[0] ?? '', async (node, untilMs, lane) => {
      const answer = await this.#evaluate(node, lane, script, keys, args, untilMs);
      // Late by the store's clock: nothing was done. The clock was set forward, or the answer tells the truth.
      return answer ?? (await this.#evaluate(node, lane, script, keys, args, untilMs)) ?? unavailable('the call reached Redis too late', true);
    });
  }

  /** What the clock of the node of `key` shows, ms; ours as long as its own is not known. */
  storeMs(key: string): number {
    return this.#lanes.get(this.#nodes.ownerOf(key))?.clock.at(performance.now()) ?? Date.now();
  }

  /** All fields of a hash; empty when there is none. */
  async hash(key: string): Promise<ReadonlyMap<string, string>> {
    const fields = (await this.command('hgetall', key)) as Record<string, Buffer>;
    return new Map(Object.entries(fields).map(([name, value]) => [name, value.toString()]));
  }

  /** A plain command on the node of `key`. */
  command(name: string, key: string, ...args: readonly Argument[]): Promise<unknown> {
    return this.#onNodeOf(key, (node, untilMs) => within(this.#send(node, name, [key, ...args]), untilMs - performance.now()));
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
    const name = this.#nodes.ownerOf(key);
    await this.#laneTo(name).ready();
    await this.#runProbe(name);
    for (const each of this.#lanes.values()) if (!each.up) await each.ready();
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const lane of this.#lanes.values()) lane.close();
    if (this.#client.status === 'ready') await within(this.#client.quit(), this.#deadlineMs).catch(() => undefined);
    this.#client.disconnect();
    this.#nodes.close();
  }

  #redial(): void {
    if (!this.#closed) this.#client.connect().catch(() => undefined);
  }

  #laneTo(name: string): Lane {
    const known = this.#lanes.get(name);
    if (known !== undefined) return known;
    const lane = new Lane(() => this.#runProbe(name), this.#deadlineMs, (up, reason) => this.#report(name, up, reason));
    this.#lanes.set(name, lane);
    return lane;
  }

  #forget(name: string): void {
    this.#lanes.get(name)?.close();
    this.#lanes.delete(name);
  }

  /**
   * Makes a call on the node that has `key`, and on where that one sends us: `MOVED` for a slot that has
   * moved, `ASK` for one that is moving and a key that isn't there any more. As long as the call's names
   * are on both nodes it is refused (`TRYAGAIN`), and made again until the deadline.
   */
  async #onNodeOf<T>(key: string, call: (node: Node, untilMs: number, lane: Lane) => Promise<T>): Promise<T> {
    const untilMs = performance.now() + this.#deadlineMs;
    let name = this.#nodes.ownerOf(key);
    for (let asking = false; ;) {
      let lane = this.#laneTo(name);
      if (!lane.up) {
        await lane.ready();
        // Only now it may be known who has the key.
        if (!asking) lane = this.#laneTo((name = this.#nodes.ownerOf(key)));
      }
      try {
        return await call({ name, asking }, untilMs, lane);
      } catch (error) {
        const next = await this.#afterRefusal(error, name, lane, untilMs);
        asking = next?.asking ?? false;
        name = next?.name ?? this.#nodes.ownerOf(key);
      }
    }
  }

  /** Where to make the call again: undefined is where the key belongs. Throws StoreUnavailable when it is not to be made again. */
  async #afterRefusal(error: unknown, name: string, lane: Lane, untilMs: number): Promise<{ readonly name: string; readonly asking: boolean } | undefined> {
    if (error instanceof StoreUnavailable) throw error;
    const word = wordOf(error) ?? '';
    if (performance.now() + AGAIN_MS < untilMs) {
      const redirection = this.cluster && error instanceof Error ? REDIRECTION.exec(error.message) : null;
      if (redirection !== null) return this.#redirected(redirection, name);
      if (PASSING.test(word)) {
        this.#nodes.refresh();
        await pause(AGAIN_MS);
        return undefined;
      }
    }
    const reason = this.#reasonOf(error);
    if (isNodeError(error)) lane.fail(reason);
    return unavailable(reason, error instanceof Unsent || REFUSALS.test(word));
  }

  #redirected([, word, slot, address = '']: RegExpExecArray, name: string): { readonly name: string; readonly asking: boolean } {
    // Without a host it is that of the node that said so.
    const to = address.startsWith(':') ? name.slice(0, name.lastIndexOf(':')) + address : address;
    if (word === 'MOVED') this.#nodes.moved(Number(slot), to);
    else this.#nodes.keep(to);
    return { name: to, asking: word === 'ASK' };
  }

  /** undefined: the call came too late and did nothing. */
  async #evaluate(node: Node, lane: Lane, script: Script, keys: readonly string[], args: readonly Argument[], untilMs: number): Promise<Buffer | undefined> {
    const guard = lane.clock.at(untilMs) ?? unavailable('the connection was lost', true);
    const answer = await within(this.#eval(node, script, keys, guard.toString(), args), untilMs - performance.now());
    lane.clock.note(answer.readDoubleLE(0), performance.now());
    return answer.length > CLOCK_BYTES ? answer.subarray(CLOCK_BYTES) : undefined;
  }

  async #runProbe(name: string): Promise<void> {
    try {
      if (name === '' && this.cluster && this.#nodes.isMapped) return;
      const answer = await within(this.#askProbe({ name, asking: false }), this.#deadlineMs);
      this.#lanes.get(name)?.clock.note(answer.readDoubleLE(0), performance.now());
    } catch (error) {
      const reason = this.#reasonOf(error);
      this.#lanes.get(name)?.fail(reason);
      this.#nodes.refresh();
      unavailable(reason);
    }
  }

  /** About a name of the node's own; about none when it has none, or when that one is moving too. */
  async #askProbe(node: Node): Promise<Buffer> {
    const { script, args } = this.#probe();
    const key = this.#nodes.nameOn(node.name);
    try {
      return await this.#eval(node, script, key === undefined ? [] : [key], ANY_TIME, args);
    } catch (error) {
      if (!/^(ASK|MOVED)$/.test(wordOf(error) ?? '')) throw error;
      return this.#eval(node, script, [], ANY_TIME, args);
    }
  }

  async #eval(node: Node, script: Script, keys: readonly string[], guard: string, args: readonly Argument[]): Promise<Buffer> {
    const rest: Argument[] = [keys.length.toString(), ...keys, guard, ...args];
    try {
      return (await this.#send(node, 'evalsha', [script.sha, ...rest])) as Buffer;
    } catch (error) {
      // Redis forgets scripts when it restarts, fails over or is told to; it has done nothing yet.
      if (wordOf(error) !== 'NOSCRIPT') throw error;
      return (await this.#send(node, 'eval', [script.text, ...rest])) as Buffer;
    }
  }

  #send({ name, asking }: Node, command: string, args: Argument[]): Promise<unknown> {
    const connection = this.#nodes.connectionTo(name);
    if (connection?.status !== 'ready') return Promise.reject(new Unsent());
    if (!asking) return connection.callBuffer(command, args);
    return Promise.all([connection.call('asking'), connection.callBuffer(command, args)]).then(([, answer]) => answer);
  }

  /** For people. Never the error itself: ioredis hangs the command's arguments on it. */
  #reasonOf(error: unknown): string {
    if (error instanceof Overdue) return 'Redis did not answer in time';
    const code = wordOf(error) ?? this.#trouble;
    if (code === undefined) return 'no connection to Redis';
    if (code === 'TRYAGAIN') return 'the key is on its way to another node of the Cluster';
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

/** Where a call goes; `asking`: about a slot that is on its way there. */
interface Node {
  readonly name: string;
  readonly asking: boolean;
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
