import { setTimeout as delay } from 'node:timers/promises';

/** Challenges that an address gets at once in a minute. Each `git fetch` or `docker pull` takes one or two. */
const PER_MINUTE = 1_000;
const MINUTE_MS = 60_000;
/** Addresses that are counted; beyond it all are counted anew. */
const MAX_ADDRESSES = 10_000;
/** Beyond its limit an address waits so long for each, and so many of all addresses wait at once. */
const PAUSE_MS = 1_000;
const MAX_WAITING = 100;

/**
 * Git, registries' clients and browsers send a key only after a 401 that asks for it (RFC 7617 §2), before every
 * exchange with one. So these 401s are free, and no limit may turn them into a 429, which asks for nothing. An address
 * that wants more than it can use waits for each instead. Counted by each process for itself.
 */
export class Challenges {
  #counts = new Map<string, number>();
  #sinceMs = performance.now();
  #waiting = 0;

  /** Resolves when this address may be challenged; to false when it should be cut off after that, as too many wait. */
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
