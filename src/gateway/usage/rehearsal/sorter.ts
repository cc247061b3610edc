import type { LoggedDecision } from './line.js';

/** How long lines are held back, by the store's clock: a line is written when its exchange ends. */
const HORIZON_MS = 120_000;
/** Maximum number of lines held after a sort; each takes about 400 bytes. */
const MAX_HELD = 100_000;
/** New lines to collect before a sort: few enough that V8 frees them before it moves them to the old generation. */
const BATCH = 8_192;

/** Sorts decisions by time, unless they are too far out of order. */
export class Sorter {
  #held: LoggedDecision[] = [];
  #latestMs = -Infinity;
  #dueCount = BATCH;

  /** Adds a line. Returns those that are old enough, or too many to hold, in order; usually none. */
  add(line: LoggedDecision): readonly LoggedDecision[] {
    this.#held.push(line);
    if (line.atMs > this.#latestMs) this.#latestMs = line.atMs;
    if (this.#held.length < this.#dueCount) return [];
    this.#held.sort(inOrder);
    const endMs = this.#latestMs - HORIZON_MS;
    let count = 0;
    while (count < this.#held.length && this.#held[count]!.atMs < endMs) count += 1;
    const released = this.#held.splice(0, Math.max(count, this.#held.length - MAX_HELD));
    // The more lines are held, the more must arrive before another sort is worth it.
    this.#dueCount = this.#held.length + Math.max(BATCH, this.#held.length / 2);
    return released;
  }

  /** Returns the remaining lines, in order. */
  end(): readonly LoggedDecision[] {
    return this.#held.sort(inOrder);
  }
}

/** Orders lines of the same millisecond by what they have left: each admission leaves less. */
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
