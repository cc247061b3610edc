const TICK_MS = 20;

/**
 * Time in which this process's event loop ran, ms: it pauses with the loop (a stopped process, a throttled container, a
 * long computation), so that such a pause does not count as the silence of a node. It moves in ticks, and only while
 * they are wanted.
 */
export class LoopClock {
  nowMs = 0;
  readonly #onTick: () => boolean;
  #tickedAtMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  /** @param onTick returns whether ticks are still wanted */
  constructor(onTick: () => boolean) {
    this.#onTick = onTick;
  }

  /** The earliest `performance.now()` at which this clock can show `loopMs`. */
  earliest(loopMs: number): number {
    return this.#tickedAtMs + loopMs - this.nowMs;
  }

  start(): void {
    if (this.#timer !== undefined || this.#stopped) return;
    this.#tickedAtMs = performance.now();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  stop(): void {
    this.#stopped = true;
    clearInterval(this.#timer);
  }

  #tick(): void {
    const atMs = performance.now();
    // A late tick shows that the loop was blocked.
    this.nowMs += Math.min(atMs - this.#tickedAtMs, 2 * TICK_MS);
    this.#tickedAtMs = atMs;
    // Timers run before sockets: first read the responses that are waiting.
    setImmediate(() => {
      if (this.#stopped || this.#onTick()) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    });
  }
}
