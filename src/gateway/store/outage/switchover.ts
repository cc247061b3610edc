import type { RedisEngine } from '../redis/engine.js';

/** Pause before local counts are sent again. */
const AGAIN_MS = 500;

interface SwitchoverParts {
  readonly redis: Pick<RedisEngine, 'unavailable' | 'watch'>;
  readonly began: (reason: string) => void;
  /** Called when Redis responds, before it decides again. If it rejects, this process continues to decide. */
  readonly beforeEnd: () => Promise<void>;
  /** Never rejects. */
  readonly ended: (awayMs: number) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** Lets this process decide from when Redis is unavailable until it responds and has the local counts. */
export class Switchover {
  readonly #parts: SwitchoverParts;
  #reason: string | null = null;
  #beganAtMs = 0;
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
    const { unavailable } = this.#parts.redis;
    if (unavailable !== null && this.#reason === null) {
      this.#reason = unavailable;
      this.#beganAtMs = performance.now();
      this.#parts.began(this.reason!);
    }
    if (unavailable === null && this.#reason !== null) this.#ending ??= this.#end();
  }

  async #end(): Promise<void> {
    const { beforeEnd, ended, onError } = this.#parts;
    try {
      await beforeEnd();
      this.#reason = null;
      await ended(performance.now() - this.#beganAtMs);
    } catch (error) {
      onError(error);
    }
    this.#ending = undefined;
    // Checks whether Redis has failed meanwhile; if it still lacks local counts, tries again a little later.
    this.#pause = setTimeout(() => this.#watch(), this.#reason === null ? 0 : AGAIN_MS).unref();
  }
}
