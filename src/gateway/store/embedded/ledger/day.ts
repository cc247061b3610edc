import { DAY_MS } from '../../../admission/bucket.js';

let knownDay = -1;
let knownName = '';

/** `2026-11-21`, the UTC day of `atMs`. Nearly every call asks for today. */
export function dayOf(atMs: number): string {
  const day = Math.floor(atMs / DAY_MS);
  if (day !== knownDay) {
    knownName = new Date(atMs).toISOString().slice(0, 10);
    knownDay = day;
  }
  return knownName;
}
