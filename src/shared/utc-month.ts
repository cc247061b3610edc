import { DAY_MS, dayOf } from './utc-day.js';

/** No month is longer. */
export const LONGEST_MONTH_MS = 31 * DAY_MS;

let fromMs = 0;
let toMs = 0;

/**
 * Returns the first millisecond of the UTC month of `atMs` (Unix ms), or NaN beyond the last date of ECMA-262.
 * Remembers the last month, since nearly every call is for the current one.
 */
export function monthStartMs(atMs: number): number {
  // Written so that it is also true after a month that is NaN.
  if (!(atMs >= fromMs && atMs < toMs)) {
    const date = new Date(atMs);
    fromMs = Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
    toMs = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
  }
  return fromMs;
}

/** Returns the first millisecond of the month after that of `atMs`. */
export function monthEndMs(atMs: number): number {
  monthStartMs(atMs);
  return toMs;
}

/** Returns the last UTC day of a month: `2026-10-31` for `2026-10`. */
export function lastDayOf(month: string): string {
  return dayOf(monthEndMs(Date.parse(`${month}-01`)) - DAY_MS);
}
