import { DAY_MS } from '../../bucket.js';
import type { UsageRow } from '../../port.js';
import { dayOf } from './day.js';
import { AFTER_ALL, SEPARATOR } from './rows.js';
import type { Store } from './store.js';
import { unpackCounts } from './subject-row.js';

const PAGE_ROWS = 64;

/** Reads one day's rows in the order of their keys, a page at a time. */
export class DayLedger {
  readonly #end: string;
  #after: string;
  #page: UsageRow[] = [];
  #at = 0;
  #ended = false;

  constructor(day: string) {
    this.#after = `u${day}${SEPARATOR}`;
    this.#end = this.#after + AFTER_ALL;
  }

  /** Key of the row that comes next; null at the end. Asked after `fill` only. */
  get nextKey(): string | null {
    return this.#page[this.#at]?.key ?? null;
  }

  /** True when the next page has to be filled before `nextKey` can be told. */
  get drained(): boolean {
    return this.#at === this.#page.length && !this.#ended;
  }

  /** Moves the next row into `rows`. */
  take(rows: UsageRow[]): void {
    rows.push(this.#page[this.#at]!);
    this.#at += 1;
  }

  /** Reads the next page, and gives the number of its rows. */
  fill(durable: Store): number {
    this.#page = [];
    this.#at = 0;
    // No snapshot is kept between pages: an old one would keep freed pages of the file from being used again.
    durable.resetReadTxn();
    for (const { key, value } of durable.getRange({ start: this.#after, end: this.#end, exclusiveStart: true, limit: PAGE_ROWS })) {
      this.#page.push(rowOf(key, value));
      this.#after = key;
    }
    this.#ended = this.#page.length < PAGE_ROWS;
    return this.#page.length;
  }
}

/** A row of the ledger, from its name and its counts. */
export function rowOf(name: string, counts: Buffer): UsageRow {
  const keyEnd = name.indexOf(SEPARATOR, 12);
  const planEnd = name.indexOf(SEPARATOR, keyEnd + 1);
  return { key: name.slice(12, keyEnd), plan: name.slice(keyEnd + 1, planEnd), operation: name.slice(planEnd + 1), day: name.slice(1, 11), ...unpackCounts(counts) };
}

/** The days `from` to `to`, both included. */
export function* daysOf(from: string, to: string): Generator<string> {
  for (let dayMs = Date.parse(from); dayMs <= Date.parse(to); dayMs += DAY_MS) yield dayOf(dayMs);
}
