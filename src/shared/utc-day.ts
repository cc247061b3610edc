export const DAY_MS = 86_400_000;

/** Returns the UTC day of `atMs` (Unix ms) as the number of days since 1970-01-01. */
export function dayNumber(atMs: number): number {
  return Math.floor(atMs / DAY_MS);
}

let knownDay = Number.NaN;
let knownName = '';

/**
 * Returns the UTC day of `atMs` (Unix ms): `2026-11-21`. Days in this form sort by date. Remembers the last day, since
 * most calls are for today.
 */
export function dayOf(atMs: number): string {
  const day = dayNumber(atMs);
  if (day !== knownDay) {
    knownName = new Date(atMs).toISOString().slice(0, 10);
    knownDay = day;
  }
  return knownName;
}

/** Returns whether `text` is an existing day; Date.parse alone takes 31 February as a day in March. */
export function isDay(text: string): boolean {
  const atMs = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(atMs) && dayOf(atMs) === text;
}

/** Yields the days from `first` to `last`, both included. */
export function* daysFrom(first: string, last: string): Generator<string, void> {
  for (let atMs = Date.parse(first); atMs <= Date.parse(last); atMs += DAY_MS) yield dayOf(atMs);
}

/** The last moment that a date can name (ECMA-262 21.4.1.1). A greedy window that owes much may be full even later. */
const LAST_DATE_MS = 8.64e15;

/** Returns `atMs` (Unix ms) in ISO 8601; a later time as the last date there is. */
export function isoOf(atMs: number): string {
  return new Date(Math.min(atMs, LAST_DATE_MS)).toISOString();
}
