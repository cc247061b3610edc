import { isoOf } from '../../../shared/utc-day.js';

/** A time in UTC, to the second: `2026-11-24 09:30:00 UTC`. @param at in ISO 8601, or Unix ms */
export function Moment({ at }: { readonly at: string | number }) {
  const iso = isoOf(typeof at === 'number' ? at : Date.parse(at));
  return <time datetime={iso}>{`${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`}</time>;
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

/** Returns a duration in its two largest units: `2 hours 5 minutes`. Rounds up to whole seconds. */
export function lengthOf(ms: number): string {
  let leftMs = Math.max(0, Math.ceil(ms / 1_000) * 1_000);
  const parts: string[] = [];
  for (const [unit, sizeMs] of UNITS) {
    const count = Math.floor(leftMs / sizeMs);
    leftMs -= count * sizeMs;
    if (count > 0 && parts.length < 2) parts.push(`${count} ${unit}${count === 1 ? '' : 's'}`);
  }
  return parts.length === 0 ? 'now' : parts.join(' ');
}
