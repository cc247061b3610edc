import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { repeat } from '../../../../shared/turns/repeat.js';
import type { Log } from '../../../../shared/log.js';
import { StoreUnavailable } from '../../../admission/port.js';
import type { KnownStore } from '../../known-store.js';
import type { Client } from './connect.js';
import {
  codeOf,
  isNodeError,
  hadNoEffect,
  NotOurs,
  reasonOf,
  redirectionOf,
  refusalOf,
  Unanswered,
  Unsent,
  wordOf,
} from './errors.js';
import { Overdue, type NodeHealth } from './health.js';
import { Healths } from './healths.js';
import { Identity } from './identity.js';
import { markNear } from '../keyspace/marks.js';
import { Nodes, type Argument, type Node } from './nodes.js';
import { STORE } from '../keyspace/names.js';
import { ANY_TIME, doneIn, type Probe, type Script } from './script.js';

/** Pause before a call that had no effect is repeated. */
const RETRY_MS = 10;
/** Redirections that a call follows without a pause. */
const MAX_REDIRECTIONS = 4;
/**
 * A call is not repeated with less time left than this: without a response, it would no longer be known that it had no
 * effect.
 */
const SPARE_MS = 50;
/** Interval between identity checks of the nodes that respond. */
const IDENTIFY_EVERY_MS = 1_000;

/**
 * Calls to Redis, each with a deadline, according to the health of its node (health.ts). A call that certainly had no
 * effect is sent again while its time lasts; one that may have had an effect is not. Every method rejects only with
 * StoreUnavailable.
 */
export class Link {
  /** How often the connection to a node was lost. The node may be in an older state afterwards. */
  losses = 0;
  readonly healths: Healths;
  readonly #deadlineMs: number;
  readonly #probe: () => Probe;
  readonly #nodes: Nodes;
  readonly #identity: Identity | null;
  readonly #stopIdentifying: () => Promise<void>;
  /** Why dialing failed last. */
  #lastError: string | undefined;

  constructor(client: Client, { deadlineMs, probe, known, environment, log }: LinkParts) {
    this.#deadlineMs = deadlineMs;
    this.#probe = probe;
    this.healths = new Healths(deadlineMs, (name, health) => this.#runProbe(name, health), log);
    this.#nodes = new Nodes(client, {
      onError: (error) => (this.#lastError = codeOf(error)),
      onReady: () => (this.#lastError = undefined),
      isUp: (name) => this.healths.known(name)?.answers ?? false,
      // The node that responds next may have lost its data, or be another one.
      onLost: (name) => {
        this.losses += 1;
        this.healths.known(name)?.failed(reasonOf(new Unsent(), this.#lastError), true);
      },
      onGone: (name) => this.healths.forget(name),
    });
    const sent = <T>(name: string, call: Promise<T>): Promise<T> => this.healths.of(name).sent(call, this.#untilMs());
    this.#identity = known && new Identity({ nodes: this.#nodes, known, sent, environment });
    const identifyAll = async (): Promise<void> => {
      // This node has what concerns the whole store, so it is checked even if no key on it is used.
      if (this.#nodes.isMapped) this.healths.of(this.#nodes.ownerOf(STORE));
      await Promise.all([...this.healths.answering()].map((name) => this.#identify(name)));
    };
    this.#stopIdentifying = repeat(IDENTIFY_EVERY_MS, identifyAll, () => undefined);
  }

  get cluster(): boolean {
    return this.#nodes.client.isCluster;
  }

  /** Accepts the store as it is. Rejects with StoreUnavailable. */
  async accept(isForced: boolean): Promise<string> {
    const untilMs = this.#untilMs();
    for (;;) {
      try {
        return (await this.#identity?.accept(isForced)) ?? '';
      } catch (error) {
        // A node of a Cluster that was never called is only dialed now.
        if (!(error instanceof Unsent) || this.healths.clock.nowMs >= untilMs)
          throw error instanceof StoreUnavailable ? error : new StoreUnavailable(reasonOf(error, this.#lastError));
      }
      await sleep(RETRY_MS);
    }
  }

  /** Sets what writes this gateway's newer data into a restored store before the store is trusted. */
  set writeBack(writeBack: () => Promise<void>) {
    if (this.#identity !== null) this.#identity.writeBack = writeBack;
  }

  /** Reports that the node of `key` has older data than before: it is unavailable until an operator accepts it. */
  async doubt(key: string): Promise<void> {
    const name = this.#nodes.ownerOf(key);
    const doubted = await this.#identity?.doubt(this.#markOf(key));
    if (doubted !== undefined) this.healths.of(name).distrusted(doubted.message);
  }

  /** Counts a change of the record `key` next to the ID of its node. @param isRestricting whether it removes rights */
  async countChange(key: string, isRestricting: boolean): Promise<void> {
    const counts = isRestricting ? ['changes', 'restrictions'] : ['changes'];
    await Promise.all(counts.map((count) => this.command('hincrby', this.#markOf(key), count, '1')));
  }

  /**
   * Checks that the node of `key` is still the same store. Rejects with StoreUnavailable if it is not, or cannot be
   * asked.
   */
  async identify(key: string): Promise<void> {
    await this.#identify(this.#nodes.ownerOf(key));
  }

  /**
   * Runs a script on the node of keys[0]; in a Cluster all keys share one hash tag. Returns its response without the
   * clock.
   * @param ifAbsent the response if keys[0] does not exist, for a Cluster that refuses the script while it moves the
   * slot
   */
  run(script: Script, keys: readonly string[], args: readonly Argument[], ifAbsent?: IfAbsent): Promise<Buffer> {
    return this.#call(keys[0] ?? '', (node, untilMs) => this.#evaluate(node, script, keys, args, untilMs, ifAbsent));
  }

  /** Returns the time of the node of `key`, unix ms; ours while its clock is unknown. */
  storeMs(key: string): number {
    return this.healths.known(this.#nodes.ownerOf(key))?.storeMs(performance.now()) ?? Date.now();
  }

  /** Returns which node has `key` now; always the same one outside a Cluster. */
  nodeOf(key: string): string {
    return this.#nodes.ownerOf(key);
  }

  /** Returns INFO of each node that responds now. */
  async info(...sections: readonly string[]): Promise<readonly string[]> {
    const untilMs = this.#untilMs();
    const nodes = this.#nodes.masters().map((name) => ({ name, asking: false }));
    const ended = await Promise.allSettled(nodes.map((node) => this.#send(node, 'info', sections, untilMs)));
    return ended.flatMap((answer) => (answer.status === 'fulfilled' ? String(answer.value) : []));
  }

  /** Returns one section of INFO of the node of `key`. */
  async infoOf(key: string, section: string): Promise<string> {
    return String(await this.#call(key, (node, untilMs) => this.#send(node, 'info', [section], untilMs)));
  }

  /**
   * Creates a separate connection to the node of `key`, which is not dialed yet and never redialed; undefined while
   * there is none to copy.
   */
  dial(key: string): Redis | undefined {
    return this.#nodes
      .connectionTo(this.#nodes.ownerOf(key))
      ?.duplicate({ lazyConnect: true, enableOfflineQueue: true, retryStrategy: () => null, socketTimeout: 60_000 })
      .on('error', () => undefined);
  }

  /** Returns all fields of a hash; empty if there is none. */
  async hash(key: string): Promise<ReadonlyMap<string, string>> {
    const fields = (await this.command('hgetall', key)) as Record<string, Buffer>;
    return new Map(Object.entries(fields).map(([name, value]) => [name, value.toString()]));
  }

  /** Runs a plain command on the node of `key`. */
  command(name: string, key: string, ...args: readonly Argument[]): Promise<unknown> {
    return this.#call(key, (node, untilMs) => this.#send(node, name, [key, ...args], untilMs));
  }

  /** Runs the probe on the node of `key`, and checks that every node known so far responds. */
  async check(key: string): Promise<void> {
    await this.#call(key, (node, untilMs) => this.#ask(node.name, this.#probe(), untilMs));
    await this.healths.ready(() => this.#untilMs());
  }

  /** Runs a script as a probe on the node of `key`. Returns why Redis rejects it; null if it does not. */
  tryOut(probe: Probe, key: string): Promise<string | null> {
    return this.#call(key, (node, untilMs) =>
      this.#ask(node.name, probe, untilMs).then(
        () => null,
        (error: unknown) => {
          const refusal = refusalOf(error);
          if (refusal === undefined) throw error;
          return refusal;
        },
      ),
    );
  }

  async close(): Promise<void> {
    await this.#stopIdentifying();
    this.healths.close();
    const { client } = this.#nodes;
    if (client.status === 'ready')
      await Promise.race([client.quit().catch(() => undefined), sleep(this.#deadlineMs, undefined, { ref: false })]);
    this.#nodes.close();
  }

  #markOf(key: string): string {
    return this.cluster ? markNear(key) : STORE;
  }

  #untilMs(): number {
    return this.healths.clock.nowMs + this.#deadlineMs;
  }

  /**
   * Makes a call once the node of `key` responds, and follows its redirections: `MOVED` for a slot that has moved,
   * `ASK` for a slot that is moving and a key that is no longer there. Repeats it while it had no effect and its time
   * lasts.
   * @param make returns undefined if the call came too late and did nothing
   */
  async #call<T>(
    key: string,
    make: (node: Node, untilMs: number) => Promise<T | undefined>,
    untilMs = this.#untilMs(),
  ): Promise<T> {
    this.healths.clock.start();
    let sentTo: Node | undefined;
    for (let redirections = 0; ;) {
      const node = sentTo ?? { name: this.#nodes.ownerOf(key), asking: false };
      const health = this.healths.of(node.name);
      if (!health.answers) {
        await health.ready(untilMs);
        // Only now may it be known which node has the key.
        continue;
      }
      try {
        const answer = await make(node, untilMs);
        health.answered();
        if (answer !== undefined) return answer;
        if (this.healths.clock.nowMs >= untilMs)
          throw new StoreUnavailable('the call reached Redis too late', { noEffect: true });
      } catch (error) {
        sentTo = await this.#afterError(error, node.name, health, untilMs);
        if (sentTo === undefined) continue;
        redirections += 1;
        // Nodes that disagree who has the slot redirect to each other.
        if (redirections > MAX_REDIRECTIONS) await sleep(RETRY_MS);
      }
    }
  }

  /**
   * Returns where to repeat the call; undefined for the owner of the key. Throws StoreUnavailable if it must not be
   * repeated.
   */
  async #afterError(error: unknown, name: string, health: NodeHealth, untilMs: number): Promise<Node | undefined> {
    if (error instanceof StoreUnavailable) throw error;
    this.#learn(error, health);
    const noEffect = hadNoEffect(error);
    if (!noEffect || this.healths.clock.nowMs + SPARE_MS >= untilMs)
      throw noEffect
        ? new StoreUnavailable(reasonOf(error, this.#lastError), { noEffect })
        : new Unanswered(reasonOf(error, this.#lastError), error instanceof Overdue ? error.call : null);
    const redirection = this.cluster ? redirectionOf(error) : undefined;
    if (redirection !== undefined) return this.#nodes.redirected(redirection, name);
    this.#nodes.refresh();
    await sleep(RETRY_MS);
    return undefined;
  }

  async #identify(name: string): Promise<void> {
    const health = this.healths.of(name);
    try {
      await this.#identity?.check(name, false);
    } catch (error) {
      this.#learn(error, health);
      throw new StoreUnavailable(reasonOf(error, this.#lastError));
    }
  }

  #learn(error: unknown, health: NodeHealth): void {
    if (error instanceof NotOurs) health.distrusted(error.message);
    else if (isNodeError(error)) health.failed(reasonOf(error, this.#lastError), wordOf(error) === undefined);
    else if (!(error instanceof Overdue)) health.answered();
  }

  /** Returns undefined if the call came too late and did nothing. */
  async #evaluate(
    node: Node,
    script: Script,
    keys: readonly string[],
    args: readonly Argument[],
    untilMs: number,
    ifAbsent?: IfAbsent,
  ): Promise<Buffer | undefined> {
    const health = this.healths.of(node.name);
    const guard = health.storeClock.at(this.healths.clock.earliest(untilMs));
    if (guard === undefined) throw new Unsent();
    let answer: Buffer;
    try {
      answer = await health.sent(this.#nodes.run(node, script, keys, guard.toString(), args), untilMs);
    } catch (error) {
      if (ifAbsent !== undefined && wordOf(error) === 'TRYAGAIN' && (await this.#isAbsent(keys[0] ?? '', untilMs)))
        return ifAbsent();
      throw error;
    }
    health.storeClock.note(answer.readDoubleLE(0), performance.now());
    // Empty if late by the store's clock: it was set forward, or this call was delayed.
    return doneIn(answer);
  }

  /**
   * Returns whether `key` certainly exists on no node. While a slot moves, Redis reports this for one name, but not for
   * several: the old node redirects to the new one for names that it does not have, and creates none.
   */
  async #isAbsent(key: string, untilMs: number): Promise<boolean> {
    const exists = this.#call(key, (node) => this.#send(node, 'exists', [key], untilMs), untilMs);
    return exists.then(
      (count) => count === 0,
      () => false,
    );
  }

  /** Runs a probe with a name in a slot of the node; without one if it has no slot, or if that slot is moving. */
  async #ask(name: string, { script, args }: Probe, untilMs: number): Promise<true> {
    const health = this.healths.of(name);
    const key = this.#nodes.nameOn(name);
    const ask = async (keys: readonly string[]): Promise<true> => {
      const run = this.#nodes.run({ name, asking: false }, script, keys, ANY_TIME, args);
      const answer = await health.sent(run, untilMs);
      health.storeClock.note(answer.readDoubleLE(0), performance.now());
      return true;
    };
    return ask(key === undefined ? [] : [key]).catch((error: unknown) => {
      if (redirectionOf(error) === undefined) throw error;
      return ask([]);
    });
  }

  #send(node: Node, command: string, args: readonly Argument[], untilMs: number): Promise<unknown> {
    return this.healths.of(node.name).sent(this.#nodes.send(node, command, args), untilMs);
  }

  async #runProbe(name: string, health: NodeHealth): Promise<void> {
    if (name === '' && this.cluster && this.#nodes.isMapped) return;
    try {
      // The check comes first: once the probe knows the node's clock, any response makes the node count as answering.
      await this.#identity?.check(name, true);
      await this.#ask(name, this.#probe(), this.#untilMs());
      this.#nodes.heard(name);
    } catch (error) {
      this.#learn(error, health);
      if (error instanceof Overdue || error instanceof Unsent) this.#nodes.missed(name);
      else this.#nodes.heard(name);
      this.#nodes.refresh();
      throw new StoreUnavailable(reasonOf(error, this.#lastError));
    }
  }
}

interface LinkParts {
  /** Deadline of a call, and how long Redis may be silent before it is unavailable. */
  readonly deadlineMs: number;
  readonly probe: () => Probe;
  /** The store used before; null accepts any. */
  readonly known: KnownStore | null;
  readonly environment: string | null;
  readonly log: Log | undefined;
}

/** What a script would return if keys[0] did not exist. */
type IfAbsent = () => Buffer;
