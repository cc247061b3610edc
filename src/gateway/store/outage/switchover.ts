import type { Log } from '../../../shared/log.js';
import { addCounts, noCounts } from '../records/counts.js';
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
export class Switchover {
  readonly #parts: SwitchoverParts;
  #reason: string | null = null;
  #beganAtMs = 0;
  /** What was sent since the outage began. */
  #replayed = noCounts();
  #ending: Promise<void> | undefined;
  #pause: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(parts: SwitchoverParts) {
    this.#parts = parts;
    parts.redis.watch(() => this.#watch());
    this.#watch();
  }

  /** Why this process decides; null while Redis does. */
  get reason(): string | null {
    return this.#reason === null
      ? null
      : (this.#parts.redis.unavailable ?? this.#reason).replace(/^the store is unavailable: /, '');
  }

  /** Waits for counts that are being sent; sends nothing afterwards. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#pause);
    await this.#ending;
  }

  #watch(): void {
    if (this.#stopped) return;
    const { redis, local, log } = this.#parts;
    const { unavailable: reason } = redis;
    if (reason !== null && this.#reason === null) {
      const gateways = this.#parts.gateways();
      this.#reason = reason;
      this.#beganAtMs = performance.now();
      this.#replayed = noCounts();
      local.begin(gateways);
      log?.warn(
        { reason, gateways },
        'Redis is unavailable: this gateway decides by itself, from its share of each limit',
      );
    }
    if (reason === null && this.#reason !== null) this.#ending ??= this.#end();
  }

  async #end(): Promise<void> {
    const { local, onError, log } = this.#parts;
    try {
      // Before Redis decides again, so that a spent day is spent then. Until this succeeds, this process decides.
      await this.#replay();
      this.#reason = null;
      const awayMs = Math.round(performance.now() - this.#beganAtMs);
      // Sends what was counted meanwhile. If that fails, the next replay sends it.
      await this.#replay().catch(onError);
      await local.end().catch(onError);
      log?.info({ awayMs, replayed: this.#replayed }, 'Redis decides again; what was counted here is in its ledger');
    } catch (error) {
      onError(error);
    }
    this.#ending = undefined;
    // Checks whether Redis has failed meanwhile; if it still lacks local counts, tries again a little later.
    this.#pause = setTimeout(() => this.#watch(), this.#reason === null ? 0 : AGAIN_MS).unref();
  }

  async #replay(): Promise<void> {
    addCounts(this.#replayed, await this.#parts.spool.replay());
  }
}
