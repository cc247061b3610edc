import type { LoggedDecision } from './line.js';

/** Lines are held back for so long, by the store's clock: an exchange is logged at its end. */
const HORIZON_MS = 120_000;
/** … and at most so many of them, some 400 bytes each. */
const MAX_HELD = 100_000;
/** They are sorted when so many have come: few enough to be garbage before they are moved to the old generation. */
const BATCH = 8_192;

/** Puts decisions into the order in which they were made, as far as they are not too far from it. */
export class Sorter {
  #held: LoggedDecision[] = [];
  #latestMs = -Infinity;
  #dueCount = BATCH;

  /** Gives those that nothing held can come before, in order; mostly none. */
  add(line: LoggedDecision): readonly LoggedDecision[] {
    this.#held.push(line);
    if (line.atMs > this.#latestMs) this.#latestMs = line.atMs;
    if (this.#held.length < this.#dueCount) return [];
    this.#held.sort(inOrder);
    const endMs = this.#latestMs - HORIZON_MS;
    let count = 0;
    while (count < this.#held.length && this.#held[count]!.atMs < endMs) count += 1;
    const released = this.#held.splice(0, Math.max(count, this.#held.length - MAX_HELD));
    // Of many that have to wait, some more have to come before sorting them again is worth it.
    this.#dueCount = this.#held.length + Math.max(BATCH, this.#held.length / 2);
    return released;
  }

  /** The rest. */
  end(): readonly LoggedDecision[] {
    return this.#held.sort(inOrder);
  }
}

/**
 * Of one millisecond, what was left tells the order: admissions take, and a refusal sees what the ones before it left.
 */
function inOrder(one: LoggedDecision, other: LoggedDecision): number {
  return one.atMs - other.atMs || leastLeft(other) - leastLeft(one) || rankOf(one) - rankOf(other);
}

function leastLeft({ windows }: LoggedDecision): number {
  return (windows['day']?.[1] ?? 0) + (windows['minute']?.[1] ?? 0);
}

function rankOf({ outcome, ban }: LoggedDecision): number {
  if (outcome === 'admitted') return 0;
  if (outcome === 'limited') return 1;
  return ban?.started === true ? 2 : 3;
}
