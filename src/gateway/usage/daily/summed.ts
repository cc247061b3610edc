import { setImmediate as nextTurn } from 'node:timers/promises';
import { COUNTS, noCounts, type Counts, type UsageRow } from '../../store/records/counts.js';
import { payerOf } from '../../store/records/customer-id.js';
import type { Dimension } from '../grouping/range.js';
import type { DayRows, Names } from './day-rows.js';

/** The days of a range that are in memory, in order. */
export interface Days {
  /** Number of days that are not: they are still being read. */
  readonly unread: number;
  readonly names: Pick<Names, 'keys' | 'labels'>;
  readonly days: readonly { readonly day: string; readonly rows: DayRows }[];
}

/** Rows per batch, and per turn of the event loop. */
const BATCH_ROWS = 512;
const TURN_ROWS = 20_000;
/** Parts of a plot that are shown on their own. */
const TOP = 7;
/** Name of the rest. */
export const OTHER = 'other';

/** A day of a plot: net units of the largest parts and of the rest. */
export interface PlotDay {
  readonly day: string;
  readonly parts: ReadonlyMap<string, number>;
}

/** Numbers distinct texts in their order, for each of a list; -1 for those that are not wanted. */
interface Ranked {
  readonly texts: readonly string[];
  readonly ranks: Int32Array;
}

/**
 * Yields the sums of the days as ledger rows, in the order of keys: without the dimensions that `by` lacks, which are
 * then empty. With dimension `customer` but not `key`, `key` is the payer.
 * @param isWanted whether the rows of a key count
 */
export async function* summed(
  { names, days }: Days,
  by: readonly Dimension[],
  isWanted: (key: string) => boolean,
): AsyncGenerator<readonly UsageRow[], void> {
  const keys = rankedKeys(names, by, isWanted);
  const labels = rankedLabels(names, by);
  const dayCount = by.includes('day') ? days.length : 1;
  const slots = new Map<number, number>();
  const sums: Counts[] = [];
  for (const [n, { rows }] of days.entries()) {
    const ofDay = by.includes('day') ? n : 0;
    await eachRow(rows, keys.ranks, (row, rank) => {
      const code = (rank * labels.texts.length + labels.ranks[rows.labels[row]!]!) * dayCount + ofDay;
      let slot = slots.get(code);
      if (slot === undefined) slots.set(code, (slot = sums.push(noCounts()) - 1));
      add(sums[slot]!, rows, row);
    });
  }
  const codes = Float64Array.from(slots.keys()).sort();
  for (let from = 0; from < codes.length; from += BATCH_ROWS) {
    yield Array.from(codes.subarray(from, from + BATCH_ROWS), (code) => {
      const pair = Math.floor(code / dayCount);
      const [plan = '', operation = ''] = labels.texts[pair % labels.texts.length]!.split('\n');
      const day = by.includes('day') ? days[code % dayCount]!.day : '';
      const key = keys.texts[Math.floor(pair / labels.texts.length)]!;
      return { key, plan, operation, day, ...sums[slots.get(code)!]! };
    });
    await nextTurn();
  }
}

/** Returns the net units of each day by a dimension: its largest values, and the rest as `OTHER`. */
export async function plotted(
  { names, days }: Days,
  by: Exclude<Dimension, 'day'>,
  isWanted: (key: string) => boolean,
): Promise<readonly PlotDay[]> {
  const keys = rankedKeys(names, [by], isWanted);
  const labels = rankedLabels(names, [by]);
  const isOfKey = by === 'key' || by === 'customer';
  const texts = isOfKey ? keys.texts : labels.texts;
  const totals = new Float64Array(texts.length);
  const partOf = (rows: DayRows, row: number, rank: number): number =>
    isOfKey ? rank : labels.ranks[rows.labels[row]!]!;
  for (const { rows } of days)
    await eachRow(rows, keys.ranks, (row, rank) => {
      totals[partOf(rows, row, rank)]! += unitsOf(rows, row);
    });
  const used = Array.from(totals.keys()).filter((part) => totals[part]! > 0);
  const top = used.sort((a, b) => totals[b]! - totals[a]!).slice(0, TOP);
  const slots = new Int32Array(texts.length).fill(top.length);
  for (const [slot, part] of top.entries()) slots[part] = slot;
  const found: PlotDay[] = [];
  for (const { day, rows } of days) {
    const sums = new Float64Array(top.length + 1);
    await eachRow(rows, keys.ranks, (row, rank) => {
      sums[slots[partOf(rows, row, rank)]!]! += unitsOf(rows, row);
    });
    const named = [...sums].map((sum, n) => [n < top.length ? texts[top[n]!]!.trim() : OTHER, sum] as const);
    found.push({ day, parts: new Map(named.filter(([, sum]) => sum > 0)) });
  }
  return found;
}

async function eachRow(rows: DayRows, ranks: Int32Array, take: (row: number, rank: number) => void): Promise<void> {
  for (let row = 0; row < rows.keys.length; row += 1) {
    const rank = ranks[rows.keys[row]!]!;
    if (rank >= 0) take(row, rank);
    if (row % TURN_ROWS === TURN_ROWS - 1) await nextTurn();
  }
  await nextTurn();
}

function add(sum: Counts, { counts }: DayRows, row: number): void {
  for (const name of COUNTS) {
    const column = counts[name];
    if (column !== null) sum[name] += column[row]!;
  }
}

function unitsOf({ counts: { units, returned } }: DayRows, row: number): number {
  return (units?.[row] ?? 0) - (returned?.[row] ?? 0);
}

function rankedKeys({ keys }: Days['names'], by: readonly Dimension[], isWanted: (key: string) => boolean): Ranked {
  const nameOf = (key: string): string => (by.includes('key') ? key : by.includes('customer') ? payerOf(key) : '');
  return ranked(keys.map((key) => (isWanted(key) ? nameOf(key) : null)));
}

function rankedLabels({ labels }: Days['names'], by: readonly Dimension[]): Ranked {
  return ranked(
    labels.map(
      ({ plan, operation }) => `${by.includes('plan') ? plan : ''}\n${by.includes('operation') ? operation : ''}`,
    ),
  );
}

function ranked(texts: readonly (string | null)[]): Ranked {
  const distinct = [...new Set(texts.filter((text) => text !== null))].sort();
  const ranks = new Map(distinct.map((text, rank) => [text, rank]));
  return { texts: distinct, ranks: Int32Array.from(texts, (text) => (text === null ? -1 : ranks.get(text)!)) };
}
