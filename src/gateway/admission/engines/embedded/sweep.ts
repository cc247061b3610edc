import { DAY_MS } from '../../bucket.js';
import type { SubjectState } from '../../decide.js';
import { BAN_MEMORY_MS } from '../../plan.js';
import { isEmpty, rangeOf } from './checkpoint.js';
import { dayOf, unpackState } from './rows.js';
import type { Store, Stores } from './stores.js';
import { translated } from './unavailable.js';

/** A subject not seen for so long is forgotten: all its windows are over, so that it starts afresh either way. */
const FORGET_AFTER_MS = 2 * DAY_MS;
/** Rows looked at per kind and sweep, bounding how long the files stay locked. */
const SWEEP_ROWS = 1_000;

/** Removes what nobody needs any more, a little at a time. */
export class Sweep {
  readonly #stores: Stores;
  readonly #usageDays: number;
  /** Where the next sweep goes on, by file and kind. */
  readonly #resumeAt = new Map<string, string>();

  constructor(stores: Stores, usageDays: number) {
    this.#stores = stores;
    this.#usageDays = usageDays;
  }

  /** One step. `nowMs` is the store's time. Rejects with StoreUnavailable. */
  async run(nowMs: number): Promise<void> {
    const { recent, durable } = this.#stores;
    const firstDayKept = dayOf(nowMs - this.#usageDays * DAY_MS);
    const yesterday = dayOf(nowMs - DAY_MS);
    try {
      recent.transactionSync(() => {
        this.#removeStale(recent, 'a', nowMs);
        // While the journal names rows that are not on disk yet, `recent` is their only home.
        if (!isEmpty(recent, 'j')) return;
        this.#removeStale(recent, 's', nowMs);
        removeDaysBefore(recent, yesterday);
      });
      await durable.transaction(() => {
        this.#removeStale(durable, 's', nowMs);
        removeDaysBefore(durable, firstDayKept);
      });
    } catch (error) {
      throw await translated(this.#stores, error);
    }
  }

  #removeStale(store: Store, kind: 's' | 'a', nowMs: number): void {
    const place = kind + (store === this.#stores.recent ? 'r' : 'd');
    const { end } = rangeOf(kind);
    const stale: string[] = [];
    let seen = 0;
    let last: string = kind;
    for (const { key, value } of store.getRange({ start: this.#resumeAt.get(place) ?? kind, end, limit: SWEEP_ROWS })) {
      seen += 1;
      last = key;
      if (isStale(unpackState(value), nowMs)) stale.push(key);
    }
    this.#resumeAt.set(place, seen < SWEEP_ROWS ? kind : last);
    for (const key of stale) store.removeSync(key);
  }
}

/** Nothing of it can change a decision any more. */
function isStale(state: SubjectState, nowMs: number): boolean {
  const seenAtMs = Math.max(state.minute.atMs, state.day.atMs, state.strikesSinceMs);
  return nowMs - seenAtMs > FORGET_AFTER_MS && nowMs - state.bannedUntilMs > BAN_MEMORY_MS;
}

function removeDaysBefore(store: Store, day: string): void {
  const old: string[] = [];
  for (const key of store.getKeys({ start: 'u', end: `u${day}`, limit: SWEEP_ROWS })) old.push(key);
  for (const key of old) store.removeSync(key);
}

