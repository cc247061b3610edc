import type { UsageRow } from '../../records/counts.js';
import { reading } from '../files/errors.js';
import { AFTER_ALL, SEPARATOR } from '../files/rows.js';
import type { Store } from '../files/database.js';
import { unpackCounts } from '../journal/entry.js';
import type { Stores } from '../owner/stores.js';

const PAGE_ROWS = 64;
/** Minimum rows per batch, except for the last one. */
const BATCH_ROWS = 64;
/** Positions of the parts of a row's name: `u2026-11-21`, a separator, the key, the rest of the label. */
const DAY_AT = 1;
const KEY_AT = 12;
/** Cached labels; at this number the cache starts over. */
const MAX_LABELS = 1_000;

/** Reads one day's rows in the order of their keys, a page at a time. */
interface DayReader {
  readonly day: string;
  /** Where the next page begins, exclusive, and where the day ends. */
  after: string;
  readonly end: string;
  page: readonly UsageRow[];
  /** Place of the next row in the page. */
  at: number;
  isLastPage: boolean;
}

/**
 * Yields the ledger's rows of these days for keys after `after`, by key, day, plan and operation. The file has them day
 * by day, so they are merged from one reader per day.
 * @param giveWay called after each page
 */
export async function* mergeDays(
  stores: Stores,
  names: readonly string[],
  after: string | null,
  giveWay: () => Promise<void>,
): AsyncGenerator<readonly UsageRow[]> {
  const readers = names.map((day): DayReader => {
    const start = `u${day}${SEPARATOR}`;
    const from = after === null ? start : start + after + SEPARATOR + AFTER_ALL;
    return { day, after: from, end: start + AFTER_ALL, page: [], at: 0, isLastPage: false };
  });
  const fill = async (reader: DayReader): Promise<void> => {
    // Keeps no snapshot between pages: an old one would keep freed pages of the file from being reused.
    await reading(stores, (durable) => {
      const { day, after: start, end } = reader;
      const rows: UsageRow[] = [];
      for (const { key, value } of durable.getRange({ start, end, exclusiveStart: true, limit: PAGE_ROWS })) {
        rows.push(rowOf(key, value, day));
        reader.after = key;
      }
      Object.assign(reader, { page: rows, at: 0, isLastPage: rows.length < PAGE_ROWS });
    });
    await giveWay();
  };
  for (const reader of readers) await fill(reader);
  let batch: UsageRow[] = [];
  for (let key = leastKey(readers); key !== null; key = leastKey(readers)) {
    for (const reader of readers) {
      while (reader.page[reader.at]?.key === key) {
        batch.push(reader.page[reader.at]!);
        reader.at += 1;
        if (reader.at === reader.page.length && !reader.isLastPage) await fill(reader);
      }
    }
    if (batch.length < BATCH_ROWS) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function leastKey(readers: readonly DayReader[]): string | null {
  let least: string | null = null;
  for (const { page, at } of readers) {
    const key = page[at]?.key;
    if (key !== undefined && (least === null || key < least)) least = key;
  }
  return least;
}

/**
 * Returns a row of the ledger from its name and counts. Shares texts that repeat: a report reads millions of rows.
 */
export function rowOf(name: string, counts: Buffer, day = name.slice(DAY_AT, KEY_AT - 1)): UsageRow {
  const keyEnd = name.indexOf(SEPARATOR, KEY_AT);
  const { plan, operation } = labelParts(name.slice(keyEnd + 1));
  return { key: name.slice(KEY_AT, keyEnd), plan, operation, day, ...unpackCounts(counts) };
}

const partsOf = new Map<string, Pick<UsageRow, 'plan' | 'operation'>>();

function labelParts(label: string): Pick<UsageRow, 'plan' | 'operation'> {
  let parts = partsOf.get(label);
  if (parts === undefined) {
    const planEnd = label.indexOf(SEPARATOR);
    parts = { plan: label.slice(0, planEnd), operation: label.slice(planEnd + 1) };
    if (partsOf.size >= MAX_LABELS) partsOf.clear();
    partsOf.set(label, parts);
  }
  return parts;
}

export const ALL_DAYS = ['0000-01-01', '9999-12-31'] as const;

/** Returns the days from `from` to `to` (inclusive) that have rows in the file. */
export function storedDays(durable: Store, from: string, to: string): readonly string[] {
  const days: string[] = [];
  for (let start = `u${from}`; ;) {
    const [name] = durable.getKeys({ start, end: `u${to}${AFTER_ALL}`, limit: 1 });
    if (name === undefined) return days;
    const day = name.slice(DAY_AT, KEY_AT - 1);
    days.push(day);
    start = `u${day}${AFTER_ALL}`;
  }
}
