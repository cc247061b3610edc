const STEPS_PER_MS = 10;
const LONGEST_MS = 60_000;

/** Latencies in steps of a tenth of a millisecond, in memory that does not grow. */
export class Latencies {
  readonly #counts = new Uint32Array(LONGEST_MS * STEPS_PER_MS);
  #count = 0;
  longestMs = 0;

  add(ms: number): void {
    this.#counts[Math.min(this.#counts.length - 1, Math.floor(ms * STEPS_PER_MS))]! += 1;
    this.#count += 1;
    if (ms > this.longestMs) this.longestMs = ms;
  }

  /** The latency that `share` of all did not exceed, ms; 0 of none. */
  quantile(share: number): number {
    let seen = 0;
    for (const [step, count] of this.#counts.entries()) {
      seen += count;
      if (seen >= share * this.#count && count > 0) return (step + 1) / STEPS_PER_MS;
    }
    return 0;
  }

  clear(): void {
    this.#counts.fill(0);
    this.#count = 0;
    this.longestMs = 0;
  }
}
