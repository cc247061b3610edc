import type { Log } from '../../../shared/log.js';
import { addCounts, noCounts, type Counts } from '../records/counts.js';
import type { RedisEngine } from '../redis/engine.js';
import type { Local } from './local.js';
import type { Spool } from './spool.js';

/** Pause before local counts are sent again. */
const AGAIN_MS = 500;

interface SwitchoverParts {
  readonly redis: Pick<RedisEngine, 'unavailable' | 'watch'>;
  readonly local: Local;
  readonly spool: Spool;
  /** Returns how many gateways share each limit. */
  readonly gateways: () => number;
  readonly onError: (error: unknown) => void;
  readonly log?: Log;
}

/** Lets this process decide from when Redis is unavailable until it responds and has the local counts. */
interface Switchover {
  /** Returns why this process decides; null while Redis does. */
  readonly reason: () => string | null;
  /** Waits for counts that are being sent; sends nothing afterwards. */
  readonly stop: () => Promise<void>;
}

export function switchoverOf({ redis, local, spool, gateways, onError, log }: SwitchoverParts): Switchover {
  /** Why Redis was unavailable when the outage began, when that was, and what was sent since. */
  let outage: { readonly reason: string; readonly beganAtMs: number; readonly replayed: Counts } | null = null;
  let ending: Promise<void> | undefined;
  let pause: NodeJS.Timeout | undefined;
  let isStopped = false;

  const end = async ({ beganAtMs, replayed }: NonNullable<typeof outage>): Promise<void> => {
    const replay = async (): Promise<void> => addCounts(replayed, await spool.replay());
    try {
      // Before Redis decides again, so that a spent day is spent then. Until this succeeds, this process decides.
      await replay();
      outage = null;
      const awayMs = Math.round(performance.now() - beganAtMs);
      // Sends what was counted meanwhile. If that fails, the next replay sends it.
      await replay().catch(onError);
      await local.end().catch(onError);
      log?.info({ awayMs, replayed }, 'Redis decides again; what was counted here is in its ledger');
    } catch (error) {
      onError(error);
    }
    ending = undefined;
    // Checks whether Redis has failed meanwhile; if it still lacks local counts, tries again a little later.
    pause = setTimeout(watch, outage === null ? 0 : AGAIN_MS).unref();
  };
  const watch = (): void => {
    if (isStopped) return;
    const { unavailable: reason } = redis;
    if (reason !== null && outage === null) {
      outage = { reason, beganAtMs: performance.now(), replayed: noCounts() };
      const sharing = gateways();
      local.begin(sharing);
      log?.warn(
        { reason, gateways: sharing },
        'Redis is unavailable: this gateway decides by itself, from its share of each limit',
      );
    }
    if (reason === null && outage !== null) ending ??= end(outage);
  };
  redis.watch(watch);
  watch();
  return {
    reason: () => outage && (redis.unavailable ?? outage.reason).replace(/^the store is unavailable: /, ''),
    async stop() {
      isStopped = true;
      clearTimeout(pause);
      await ending;
    },
  };
}
