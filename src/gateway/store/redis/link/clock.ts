/** How long a response is evidence of the offset between both clocks, which drift by at most a few ms in that time. */
const NOTES_MS = 10_000;

/**
 * Estimates a store's clock from its responses. A response was sent before it arrived, so each is a lower bound; the
 * greatest of the last one to two `NOTES_MS` applies. All times in ms.
 */
export class StoreClock {
  #aheadMs = -Infinity;
  #beforeMs = -Infinity;
  #turnedMs = -Infinity;

  /** A response that contains `storeMs` arrived at `ourMs`. */
  note(storeMs: number, ourMs: number): void {
    const aheadMs = storeMs - ourMs;
    const ageMs = ourMs - this.#turnedMs;
    if (ageMs < NOTES_MS) {
      if (aheadMs > this.#aheadMs) this.#aheadMs = aheadMs;
      return;
    }
    this.#beforeMs = ageMs < 2 * NOTES_MS ? this.#aheadMs : -Infinity;
    this.#aheadMs = aheadMs;
    this.#turnedMs = ourMs;
  }

  /** Returns `ourMs` on the store's clock, never later than it actually is; undefined before the first note. */
  at(ourMs: number): number | undefined {
    const aheadMs = Math.max(this.#aheadMs, this.#beforeMs);
    return aheadMs === -Infinity ? undefined : Math.floor(ourMs + aheadMs);
  }
}
