import type { RedisEngine } from '../redis/engine.js';

/** Before what was counted here is sent again. */
const AGAIN_MS = 500;

interface SwitchoverParts {
  readonly redis: Pick<RedisEngine, 'unavailable' | 'watch'>;
  readonly began: (reason: string) => void;
  /** Redis answers, and is about to be asked again. A rejection means that it is not yet. */
  readonly beforeEnd: () => Promise<void>;
  /** Never rejects. */
  readonly ended: (awayMs: number) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** Who decides: this process does from when Redis is unavailable until it answers and has what was counted here. */
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

  /** Waits for what is being sent; nothing is sent after it. */
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
    // What became of Redis meanwhile; while it lacks what was counted here, a little later.
    this.#pause = setTimeout(() => this.#watch(), this.#reason === null ? 0 : AGAIN_MS).unref();
  }
}
