import { setTimeout as delay } from 'node:timers/promises';

/** Challenges per address and minute without a delay. Each `git fetch` or `docker pull` takes one or two. */
const PER_MINUTE = 1_000;
const MINUTE_MS = 60_000;
/** Addresses counted; beyond that, counting starts again for all. */
const MAX_ADDRESSES = 10_000;
/** Delay of each challenge beyond the limit, and how many may be delayed at the same time. */
const PAUSE_MS = 1_000;
const MAX_WAITING = 100;

/**
 * Delays challenges to an address that gets too many. Git, registry clients and browsers send a key only after a 401
 * (RFC 7617 §2), so these 401s are free, and no limit may turn them into a 429. Each process counts for itself.
 */
export class Challenges {
  #counts = new Map<string, number>();
  #sinceMs = performance.now();
  #waiting = 0;

  /** Resolves when the address may be challenged; to false, without a delay, if its connection should then close. */
  async take(address: string): Promise<boolean> {
    const nowMs = performance.now();
    if (nowMs - this.#sinceMs >= MINUTE_MS || this.#counts.size >= MAX_ADDRESSES) {
      this.#counts = new Map();
      this.#sinceMs = nowMs;
    }
    const count = (this.#counts.get(address) ?? 0) + 1;
    this.#counts.set(address, count);
    if (count <= PER_MINUTE) return true;
    if (this.#waiting >= MAX_WAITING) return false;
    this.#waiting += 1;
    await delay(PAUSE_MS);
    this.#waiting -= 1;
    return true;
  }
}
