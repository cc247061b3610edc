import { STORE, storeMark } from './names.js';
import { slotOf } from './slot.js';

const PARTS = 64;
const SLOTS = 16_384;

/** One name in each of 64 equal parts of the slots, so that any master with 512 consecutive slots has one. */
const BY_PART = namesByPart();

/**
 * The names where a store keeps its ID: the first mark, and one in each part of the slots. They move with their slots.
 */
export const ALL_MARKS: readonly string[] = [STORE, ...BY_PART];

/** Returns the mark in the same part of the slots: on the same master, unless that part is divided. */
export function markNear(name: string): string {
  return BY_PART[partOf(name)]!;
}

function partOf(name: string): number {
  return Math.floor((slotOf(name) * PARTS) / SLOTS);
}

function namesByPart(): readonly string[] {
  const found = new Map<number, string>();
  for (let n = 0; found.size < PARTS; n += 1) {
    const part = partOf(storeMark(n));
    if (!found.has(part)) found.set(part, storeMark(n));
  }
  return Array.from({ length: PARTS }, (_, part) => found.get(part)!);
}
