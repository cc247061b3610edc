/** Numbers with their unit: no `Ms` can be passed for `Bytes`, but any plain number can. */
export type Ms = number & { readonly unit?: 'ms' };
export type Days = number & { readonly unit?: 'days' };
export type Bytes = number & { readonly unit?: 'bytes' };

/** Durations and sizes as people write them: `100ms`, `5m`, `400d`; `16KiB`, `1MiB`. Whole numbers, one unit. */
export const DURATION = /^[0-9]{1,9}(?:ms|s|m|h|d)$/;
export const SIZE = /^[0-9]{1,9}(?:B|KiB|MiB|GiB|TiB)$/;

const UNITS_MS = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);
const UNITS_BYTES = new Map([
  ['B', 1],
  ['KiB', 2 ** 10],
  ['MiB', 2 ** 20],
  ['GiB', 2 ** 30],
  ['TiB', 2 ** 40],
]);

/** Parses a duration to ms: `5m` is 300000. Undefined if `text` is not a duration. */
export function parseDurationMs(text: string): Ms | undefined {
  return DURATION.test(text) ? parse(text, UNITS_MS) : undefined;
}

/** Parses a size to bytes: `1MiB` is 1048576. Undefined if `text` is not a size, or too large for an exact number. */
export function parseBytes(text: string): Bytes | undefined {
  const bytes = SIZE.test(text) ? parse(text, UNITS_BYTES) : undefined;
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** Formats ms in the largest unit that divides them: 60000 is `1m`. */
export function durationText(ms: number): string {
  return textIn(UNITS_MS, ms);
}

/** Formats bytes in the largest unit that divides them: 1048576 is `1MiB`. */
export function bytesText(bytes: number): string {
  return textIn(UNITS_BYTES, bytes);
}

function textIn(units: ReadonlyMap<string, number>, amount: number): string {
  const [name, size] = [...units].findLast(([, unit]) => amount >= unit && amount % unit === 0) ?? [...units][0]!;
  return `${amount / size}${name}`;
}

function parse(text: string, units: ReadonlyMap<string, number>): number {
  const digits = Number.parseInt(text, 10);
  return digits * units.get(text.replace(/^[0-9]+/, ''))!;
}
