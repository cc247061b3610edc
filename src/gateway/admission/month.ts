import { DAY_MS } from '../../shared/utc-day.js';

/** Days from 1 March of the year 0 to 1 January 1970, and in 400 years: the calendar repeats after them. */
export const DAYS_BEFORE_1970 = 719_468;
export const DAYS_IN_ERA = 146_097;
/** No month is longer, and none so short that so many days from its first lie beyond the next. */
export const LONGEST_MONTH_MS = 31 * DAY_MS;

let fromMs = 0;
let toMs = 0;

/** First millisecond of the UTC month of `atMs`, which is not before 1970. Nearly every call asks for this month. */
export function monthStartMs(atMs: number): number {
  if (atMs < fromMs || atMs >= toMs) {
    fromMs = startOf(atMs);
    toMs = startOf(fromMs + LONGEST_MONTH_MS);
  }
  return fromMs;
}

/** First millisecond of the month after that of `atMs`. */
export function monthEndMs(atMs: number): number {
  monthStartMs(atMs);
  return toMs;
}

/**
 * Whole numbers alone, so that the Lua of the redis engine (engines/redis/admission/windows.ts) says the same:
 * years are counted from March on, so that a leap day is the last of its year.
 */
function startOf(atMs: number): number {
  const day = Math.floor(atMs / DAY_MS);
  const shifted = day + DAYS_BEFORE_1970;
  const ofEra = shifted - DAYS_IN_ERA * Math.floor(shifted / DAYS_IN_ERA);
  const year = Math.floor(
    (ofEra - Math.floor(ofEra / 1_460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) / 365,
  );
  const ofYear = ofEra - (365 * year + Math.floor(year / 4) - Math.floor(year / 100));
  const month = Math.floor((5 * ofYear + 2) / 153);
  return (day - ofYear + Math.floor((153 * month + 2) / 5)) * DAY_MS;
}
