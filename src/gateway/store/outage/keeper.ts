import { repeat } from '../../../shared/repeat.js';
import type { RedisEngine } from '../redis/engine.js';
import type { KeyCache } from './key-cache.js';
import type { Metadata } from './metadata.js';
import type { Spool } from './spool.js';

const EVERY_MS = 1_000;
/** Counting what waits takes at most this part of the time. */
const MEASURE_SHARE = 20;
/** A process that was killed between its last admission and its replay left something behind. */
const LEFTOVERS_EVERY_MS = 60_000;
const SWEEP_EVERY_MS = 10_000;
/** A change follows its entry in the log within a few deadlines of its calls, or never. */
const GRACE_DEADLINES = 8;
const GRACE_MS = 5_000;

interface KeeperParts {
  readonly redis: Pick<RedisEngine, 'fleet'>;
  readonly deadlineMs: number;
  /** Names this gateway among others: the folder, and with it the id of the spool, may be a copy. */
  readonly group: string;
  readonly isAway: () => boolean;
  readonly keys: KeyCache;
  readonly metadata: Metadata;
  readonly spool: Spool;
  /** An error of a round, which ends no more than that. */
  readonly onError: (error: unknown) => void;
}

/** What one process of each gateway does for all of them: reports that it is alive, follows changed keys, replays what was spooled. */
export class Keeper {
  readonly #parts: KeeperParts;
  readonly #stop: () => Promise<void>;
  readonly #graceMs: number;
  #measureAtMs = 0;
  #replayAtMs = 0;
  #sweepAtMs = 0;

  constructor(parts: KeeperParts) {
    this.#parts = parts;
    this.#graceMs = Math.max(GRACE_MS, GRACE_DEADLINES * parts.deadlineMs);
    this.#stop = repeat(EVERY_MS, () => this.#round(), parts.onError);
  }

  /** Takes leave of the other gateways, when all is brought home: else its days stay open until somebody does. */
  async stop(): Promise<void> {
    await this.#stop();
    const { redis, spool, group, isAway } = this.#parts;
    if (isAway()) return;
    await spool
      .replay()
      .then(() => Promise.all([redis.fleet.leave(group), redis.fleet.leave(spool.id)]))
      .catch(() => undefined);
  }

  async #round(): Promise<void> {
    const { isAway, keys, redis, spool, group, metadata } = this.#parts;
    const nowMs = performance.now();
    if (nowMs >= this.#sweepAtMs) {
      this.#sweepAtMs = nowMs + SWEEP_EVERY_MS;
      await keys.sweep();
    }
    if (isAway()) {
      await this.#measure();
      return;
    }
    for (const id of metadata.former()) await redis.fleet.leave(id);
    await metadata.write('former', '');
    await metadata.sawGateways(await redis.fleet.beat(group));
    await this.#follow();
    if (spool.pending > 0 || nowMs >= this.#replayAtMs) {
      await spool.replay();
      this.#replayAtMs = nowMs + LEFTOVERS_EVERY_MS;
    }
    // Only now: what was left here may be of days that others would take for final.
    if (spool.openDay !== null) await redis.fleet.report(spool.id, spool.openDay);
  }

  /** Reads anew the cached keys that the log of changes names, until the entries are so old that their change is there. */
  async #follow(): Promise<void> {
    const { redis, keys, metadata } = this.#parts;
    // Store time. A store whose clock was set back begins anew.
    const readUntilMs = Number(metadata.read('log') ?? 0);
    for (let sinceMs = readUntilMs, isMore = true; isMore;) {
      const changed = await redis.fleet.changedSince(sinceMs);
      await keys.changed(changed.ids);
      sinceMs = changed.untilMs;
      isMore = changed.isMore;
      const overMs = sinceMs - this.#graceMs;
      // Each write is synced to the disk: reading an entry once more costs less.
      if (!isMore && Math.abs(overMs - readUntilMs) > 2 * GRACE_MS) await metadata.write('log', overMs.toString());
    }
  }

  async #measure(): Promise<void> {
    const beganMs = performance.now();
    if (beganMs < this.#measureAtMs) return;
    await this.#parts.spool.measure();
    const endedMs = performance.now();
    this.#measureAtMs = endedMs + MEASURE_SHARE * (endedMs - beganMs);
  }
}
