import type { UsageRow } from '../../records/counts.js';
import { AFTER_ALL, SEPARATOR } from '../files/rows.js';
import type { Store } from '../files/store.js';
import { unpackCounts } from '../journal/entry.js';

const PAGE_ROWS = 64;
/** Positions of the parts of a row's name: `u2026-11-21`, a separator, the key, the rest of the label. */
const DAY_AT = 1;
const KEY_AT = 12;
/** Cached labels; at this number the cache starts over. */
const MAX_LABELS = 1_000;

/** Reads one day's rows in the order of their keys, a page at a time. */
export class DayLedger {
  readonly #day: string;
  readonly #end: string;
  #after: string;
  #page: UsageRow[] = [];
  #at = 0;
  #ended = false;

  /** @param after reads only keys after this one */
  constructor(day: string, after: string | null) {
    this.#day = day;
    const start = `u${day}${SEPARATOR}`;
    this.#after = after === null ? start : start + after + SEPARATOR + AFTER_ALL;
    this.#end = start + AFTER_ALL;
  }

  /** Key of the next row; null at the end. Valid only after `fill`. */
  get nextKey(): string | null {
    return this.#page[this.#at]?.key ?? null;
  }

  /** Whether `fill` must be called before `nextKey` is known. */
  get drained(): boolean {
    return this.#at === this.#page.length && !this.#ended;
  }

  /** Moves the next row into `rows`. */
  take(rows: UsageRow[]): void {
    rows.push(this.#page[this.#at]!);
    this.#at += 1;
  }

  /** Reads the next page. */
  fill(durable: Store): void {
    this.#page = [];
    this.#at = 0;
    // Keeps no snapshot between calls: an old one would keep freed pages of the file from being reused.
    durable.resetReadTxn();
    for (const { key, value } of durable.getRange({
      start: this.#after,
      end: this.#end,
      exclusiveStart: true,
      limit: PAGE_ROWS,
    })) {
      this.#page.push(rowOf(key, value, this.#day));
      this.#after = key;
    }
    this.#ended = this.#page.length < PAGE_ROWS;
  }
}

/**
 * Returns a row of the ledger from its name and counts. Shares texts that repeat: a report reads millions of rows.
 */
export function rowOf(name: string, counts: Buffer, day = name.slice(DAY_AT, KEY_AT - 1)): UsageRow {
  const keyEnd = name.indexOf(SEPARATOR, KEY_AT);
  const { plan, operation } = labelParts(name.slice(keyEnd + 1));
  return {
    key: name.slice(KEY_AT, keyEnd),
    plan,
    operation,
    day,
    ...unpackCounts(counts),
  };
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
