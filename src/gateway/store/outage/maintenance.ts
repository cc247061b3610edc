import { repeat } from '../../../shared/turns/repeat.js';
import type { Running } from '../port.js';
import type { RedisEngine } from '../redis/engine.js';
import type { KeyCache } from './key-cache.js';
import type { Metadata } from './metadata.js';
import type { Spool } from './spool.js';

const EVERY_MS = 1_000;
const MEASURE_EVERY_MS = 5_000;
const SWEEP_EVERY_MS = 10_000;
/** Finds counts of a process that was killed between its last admission and its replay. */
const REPLAY_EVERY_MS = 60_000;
/** A change follows its log entry within a few deadlines, or never. */
const GRACE_DEADLINES = 8;
const GRACE_MS = 5_000;

interface MaintenanceParts {
  readonly redis: Pick<RedisEngine, 'fleet' | 'nowMs'>;
  readonly deadlineMs: number;
  /** ID of this gateway. */
  readonly id: string;
  /** What it runs; null until that is known. */
  readonly running: () => Running | null;
  readonly isUnavailable: () => boolean;
  readonly keys: KeyCache;
  readonly metadata: Metadata;
  readonly spool: Spool;
  /** Called with the error of a round, which ends only that round. */
  readonly onError: (error: unknown) => void;
}

/** Background work, once per gateway: reports that it is alive, follows changed keys, replays the spool. */
export function maintain(parts: MaintenanceParts): { readonly stop: () => Promise<void> } {
  const { isUnavailable, keys, redis, spool, id, metadata } = parts;
  const doneAtMs = { measure: -Infinity, replay: -Infinity, sweep: -Infinity };
  const every = async (everyMs: number, what: keyof typeof doneAtMs, work: () => Promise<unknown>): Promise<void> => {
    if (performance.now() - doneAtMs[what] < everyMs) return;
    await work();
    doneAtMs[what] = performance.now();
  };
  const round = async (): Promise<void> => {
    await every(SWEEP_EVERY_MS, 'sweep', () => keys.sweep());
    if (isUnavailable()) return every(MEASURE_EVERY_MS, 'measure', () => spool.measure());
    await every(spool.pending > 0 ? 0 : REPLAY_EVERY_MS, 'replay', () => spool.replay());
    for (const former of metadata.former()) await redis.fleet.leave(former);
    await metadata.write('former', '');
    await metadata.sawGateways(await redis.fleet.beat(id));
    const storeMs = redis.nowMs();
    if (storeMs !== undefined) await metadata.sawClock(storeMs);
    await follow(parts);
    // Only after the replay: remaining counts may belong to days that would otherwise become final.
    const { openDay } = spool;
    if (openDay !== null) await redis.fleet.report({ gateway: id, openDay, running: parts.running() });
  };
  const stopRounds = repeat(EVERY_MS, round, parts.onError);
  return {
    /** Deregisters once the spool is replayed; otherwise its days stay open until an operator gives it up. */
    async stop() {
      await stopRounds();
      if (isUnavailable()) return;
      await spool
        .replay()
        .then(() => redis.fleet.leave(id))
        .catch(() => undefined);
    },
  };
}

/** Copies the keys in the change log, and again until their entries are so old that the change must be visible. */
async function follow({ redis, keys, metadata, deadlineMs }: MaintenanceParts): Promise<void> {
  const graceMs = Math.max(GRACE_MS, GRACE_DEADLINES * deadlineMs);
  // Store time. Starts again if the store's clock was set back.
  const readUntilMs = Number(metadata.read('log') ?? 0);
  for (let sinceMs = readUntilMs, isMore = true; isMore;) {
    const changed = await redis.fleet.changedSince(sinceMs);
    await keys.changed(changed.ids);
    sinceMs = changed.untilMs;
    isMore = changed.isMore;
    const overMs = sinceMs - graceMs;
    // Each write is synced to the disk: reading an entry again costs less.
    if (!isMore && Math.abs(overMs - readUntilMs) > 2 * GRACE_MS) await metadata.write('log', overMs.toString());
  }
}
