import { setTimeout as later } from 'node:timers/promises';
import { dayOf } from '../ledger/day.js';
import type { KeyEntry } from './key-entry.js';
import { markCopied, readCopied, saveEntry } from './copy.js';
import { packRow } from './row.js';
import { takeBans } from './ban-history.js';
import { forgetPending, isAnyPending, takePending } from './pending.js';
import { copiedRow, FORGOTTEN_MARK, logRow, rangeOf } from '../files/rows.js';
import { doubleIn, putDouble, type Store } from '../files/store.js';
import type { Stores } from '../files/stores.js';
import { attempt, translated } from '../files/errors.js';

/**
 * Of one transaction, bounding how long files stay locked and the event loop waits: keys copied, keys merged, rows of
 * the log removed.
 */
const COPIED_AT_ONCE = 1_000;
const MERGED_AT_ONCE = 250;
const ROWS_AT_ONCE = 250;
/** Keys put in order before the event loop has a turn. */
const ORDERED_AT_ONCE = 5_000;
/** Between two slices of a merge, for admissions. */
const PAUSE_MS = 1;

/**
 * Brings `durable` up to what `recent` holds, in two ways. To save is to copy what is new of the log, each key once: a
 * few pages one after the other, whichever keys they are about. To merge is to write the rows of all keys that the log
 * names, in their order, and to forget it: many pages, but once for all that a key did meanwhile. Any number of
 * processes may do either at the same time.
 */
export class Checkpoint {
  readonly #stores: Stores;
  #running: Promise<void> | undefined;
  #waiting: Promise<void> | undefined;
  #mergeRequested = false;
  /** What the last transaction took for the copy. */
  #taken: readonly KeyEntry[] = [];

  constructor(stores: Stores) {
    this.#stores = stores;
  }

  /** Whether any process committed something that no checkpoint has saved yet. */
  isDue(): boolean {
    const { memtable } = this.#stores;
    memtable.refresh();
    return Math.min(memtable.takenTo, readCopied(this.#stores)) < memtable.applied;
  }

  /**
   * When it resolves, all that any process had committed before the call is on disk.
   * The sync happens on a thread of lmdb's, never on the calling one. Rejects with StoreUnavailable.
   */
  save(): Promise<void> {
    if (this.#running === undefined) {
      const merges = this.#mergeRequested;
      this.#mergeRequested = false;
      this.#running = this.#round(merges).finally(() => (this.#running = undefined));
      return this.#running;
    }
    // The one under way may have read the log already: all callers from now on share the next.
    const again = (): Promise<void> => {
      this.#waiting = undefined;
      return this.save();
    };
    this.#waiting ??= this.#running.then(again, again);
    return this.#waiting;
  }

  /** The same, and all of it stands in the rows of its keys. */
  merge(): Promise<void> {
    this.#mergeRequested = true;
    return this.save();
  }

  /** When it resolves, all events and automatic bans that any process had committed before it are in `durable`. */
  async takeOver(): Promise<void> {
    if (await attempt(this.#stores, () => isAnyPending(this.#stores.recent))) await this.save();
  }

  async #round(merges: boolean): Promise<void> {
    const { memtable } = this.#stores;
    try {
      await this.#copyAll();
      if (!merges) return;
      // What it began with may have to be read anew, and is a copy then.
      while (!(await this.#merge(memtable.epoch))) await this.#copyAll();
    } catch (error) {
      memtable.putBack(this.#taken);
      throw await translated(this.#stores, error);
    }
  }

  async #copyAll(): Promise<void> {
    let target = Infinity;
    do {
      const { durable, memtable, recent } = this.#stores;
      const copied = await durable.transaction(() => this.#copy([]));
      while (!forgetPending(recent, copied)) await later(PAUSE_MS);
      target = Math.min(target, memtable.applied);
      // Not what the copy has: another process may have put it there, and a merge here needs it taken here.
    } while (this.#stores.memtable.takenTo < target);
  }

  /**
   * Copies some of what is new of the log, of `entries` all. It is read after the lock on `durable` is ours, so that
   * nothing is copied that was merged. Gives the transaction up to which the copy has everything.
   */
  #copy(entries: readonly KeyEntry[]): number {
    const { recent, durable, durableCapacity, memtable } = this.#stores;
    this.#taken = [];
    durableCapacity.claim();
    memtable.refresh();
    const before = readCopied(this.#stores);
    this.#taken = memtable.takeUncopied(COPIED_AT_ONCE, entries);
    // Another process may have copied some.
    const changed = this.#taken.filter(({ changedBy }) => changedBy > before);
    const copied = Math.max(before, memtable.takenTo);
    if (changed.length > 0)
      durable.putSync(copiedRow(memtable.applied, durable.getWriteTxnId()), packRow(changed, before));
    if (copied > before) {
      takePending(recent, durable, before, copied);
      takeBans(recent, durable, before, copied);
      markCopied(this.#stores, copied);
    }
    return copied;
  }

  /** False when the memtable was emptied meanwhile: then nothing is known of what is left to merge. */
  async #merge(epoch: number): Promise<boolean> {
    const { durable, memtable } = this.#stores;
    const upTo = memtable.takenTo;
    for await (const entries of inOrder(memtable.beginMerge())) {
      if (!(await durable.transaction(() => this.#mergeSome(entries, epoch)))) return false;
      await later(PAUSE_MS);
    }
    while (!(await durable.transaction(() => removeLog(durable, upTo)))) await later(PAUSE_MS);
    await memtable.merged(upTo, dayOf(Date.now()), () => later(PAUSE_MS));
    while (!this.#forget(upTo)) await later(PAUSE_MS);
    return true;
  }

  /**
   * In their newest state, which the copy of the log has too: no other process's older one can land on it, under the
   * lock.
   */
  #mergeSome(entries: readonly KeyEntry[], epoch: number): boolean {
    const { durable, memtable } = this.#stores;
    this.#copy(entries);
    if (memtable.epoch !== epoch) return false;
    for (const entry of entries) saveEntry(durable, entry, memtable.mergedTo);
    return true;
  }

  /**
   * Only after all is on disk; a kill before this only means that it is merged once more. True when nothing is left.
   */
  #forget(upTo: number): boolean {
    const { recent } = this.#stores;
    return recent.transactionSync(() => {
      putDouble(recent, FORGOTTEN_MARK, Math.max(upTo, doubleIn(recent, FORGOTTEN_MARK)));
      return removeLog(recent, upTo);
    });
  }
}

/**
 * Some at a time, in the order of their rows in `durable`; to sort all of them at once would hold up the event loop.
 */
async function* inOrder(entries: ReadonlySet<KeyEntry>): AsyncGenerator<readonly KeyEntry[]> {
  const groups: KeyEntry[][] = [];
  let count = 0;
  for (const entry of entries) {
    (groups[entry.id.charCodeAt(0)] ??= []).push(entry);
    if (++count % ORDERED_AT_ONCE === 0) await later(PAUSE_MS);
  }
  for (const group of Object.values(groups)) {
    group.sort((a, b) => (a.id < b.id ? -1 : 1));
    for (let at = 0; at < group.length; at += MERGED_AT_ONCE) yield group.slice(at, at + MERGED_AT_ONCE);
  }
}

/** Removes the oldest rows of the log, up to that of a transaction. True when none is left. */
function removeLog(store: Store, upTo: number): boolean {
  const names = [...store.getKeys({ ...rangeOf('l'), end: logRow(upTo + 1), limit: ROWS_AT_ONCE })];
  for (const name of names) store.removeSync(name);
  return names.length < ROWS_AT_ONCE;
}
