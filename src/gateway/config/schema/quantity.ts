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

/** `5m` → 300000; undefined when `text` is no duration. */
export function parseDurationMs(text: string): number | undefined {
  return DURATION.test(text) ? parse(text, UNITS_MS) : undefined;
}

/** `1MiB` → 1048576; undefined when `text` is no size, or one no double holds exactly. */
export function parseBytes(text: string): number | undefined {
  const bytes = SIZE.test(text) ? parse(text, UNITS_BYTES) : undefined;
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** 60000 → `1m`: the largest unit of which it is a whole number. */
export function durationText(ms: number): string {
  return textIn(UNITS_MS, ms);
}

/** 1048576 → `1MiB`: the largest unit of which it is a whole number. */
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
