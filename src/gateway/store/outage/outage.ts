import type { RedisEngine } from '../redis/engine.js';

/** Before what was counted here is sent again. */
const AGAIN_MS = 500;

interface OutageParts {
  readonly redis: Pick<RedisEngine, 'away' | 'watch'>;
  readonly began: (reason: string) => void;
  /** Redis answers, and is about to be asked again. A rejection means that it is not yet. */
  readonly beforeEnd: () => Promise<void>;
  /** Never rejects. */
  readonly ended: (awayMs: number) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** The time in which this process decides by itself: it begins when Redis is away, and ends when it answers and has what was counted here. */
export class Outage {
  readonly #parts: OutageParts;
  #reason: string | null = null;
  #beganAtMs = 0;
  #ending = Promise.resolve();
  #isEnding = false;
  #pause: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(parts: OutageParts) {
    this.#parts = parts;
    parts.redis.watch(() => this.#look());
    this.#look();
  }

  /** Why there is one; null while Redis decides. */
  get reason(): string | null {
    return this.#reason === null ? null : (this.#parts.redis.away ?? this.#reason).replace(/^the store is away: /, '');
  }

  /** Waits for what is being sent; nothing is sent after it. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#pause);
    await this.#ending;
  }

  #look(): void {
    if (this.#stopped) return;
    const { away } = this.#parts.redis;
    if (away !== null && this.#reason === null) {
      this.#reason = away;
      this.#beganAtMs = performance.now();
      this.#parts.began(this.reason!);
    }
    if (away === null && this.#reason !== null && !this.#isEnding) this.#ending = this.#end();
  }

  async #end(): Promise<void> {
    const { beforeEnd, ended, onError } = this.#parts;
    this.#isEnding = true;
    try {
      await beforeEnd();
      this.#reason = null;
      await ended(performance.now() - this.#beganAtMs);
    } catch (error) {
      onError(error);
    }
    this.#isEnding = false;
    if (this.#reason === null) this.#look();
    else if (!this.#stopped) this.#pause = setTimeout(() => this.#look(), AGAIN_MS).unref();
  }
}
