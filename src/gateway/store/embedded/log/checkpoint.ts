import { setTimeout as later } from 'node:timers/promises';
import { dayOf } from '../ledger/day.js';
import type { KeyEntry } from './key-entry.js';
import { markCopied, readCopied, saveEntry } from './copy.js';
import { packRow } from './row.js';
import { forgetPending, isAnyPending, takePending } from './pending.js';
import { FORGOTTEN_MARK, logRow, rangeOf } from '../files/rows.js';
import { doubleIn, putDouble } from '../files/store.js';
import type { Store } from '../files/store.js';
import type { Stores } from '../files/stores.js';
import { attempt, translated } from '../files/errors.js';

/** Keys merged, and rows of the log removed, per transaction: bounds how long files stay locked and the event loop waits. */
const KEYS_AT_ONCE = 250;
const ROWS_AT_ONCE = 250;
/** Between two slices of a merge, for admissions. */
const PAUSE_MS = 1;

/**
 * Brings `durable` up to what `recent` holds, in two ways. To save is to copy what is new of the log, each key
 * once: a few pages one after the other, whichever keys they are about. To merge is to write the rows of all keys that the
 * log names, in their order, and to forget it: many pages, but once for all that a key did meanwhile.
 * Any number of processes may do either at the same time.
 */
export class Checkpoint {
  readonly #stores: Stores;
  #running: Promise<void> | undefined;
  #waiting: Promise<void> | undefined;
  #mergeIsAsked = false;

  constructor(stores: Stores) {
    this.#stores = stores;
  }

  /** Whether any process committed something that no checkpoint has saved yet. */
  isDue(): boolean {
    const { memtable } = this.#stores;
    memtable.refresh();
    const copied = readCopied(this.#stores);
    memtable.copied(copied);
    return memtable.applied > copied;
  }

  /**
   * When it resolves, all that any process had committed before the call is on disk.
   * The sync happens on a thread of lmdb's, never on the calling one. Rejects with StoreUnavailable.
   */
  save(): Promise<void> {
    if (this.#running === undefined) {
      const merges = this.#mergeIsAsked;
      this.#mergeIsAsked = false;
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
    this.#mergeIsAsked = true;
    return this.save();
  }

  /** When it resolves, all events that any process had committed before the call are in `durable`. */
  async takeOver(): Promise<void> {
    if (await attempt(this.#stores, () => isAnyPending(this.#stores.recent))) await this.save();
  }

  async #round(merges: boolean): Promise<void> {
    const { durable, memtable } = this.#stores;
    try {
      if (!merges) {
        const copied = await durable.transaction(() => this.#copy());
        memtable.copied(copied);
        await this.#forgetPending(copied);
        return;
      }
      const merge = new Merge();
      while (!(await this.#stores.durable.transaction(() => this.#step(merge)))) await later(PAUSE_MS);
      await this.#forgetPending(merge.upTo);
      await memtable.merged(merge.upTo, dayOf(Date.now()), () => later(PAUSE_MS));
      while (!this.#forget(merge.upTo)) await later(PAUSE_MS);
    } catch (error) {
      throw await translated(this.#stores, error);
    }
  }

  async #forgetPending(upTo: number): Promise<void> {
    while (!forgetPending(this.#stores.recent, upTo)) await later(PAUSE_MS);
  }

  /** Copies what is new of the log. It is read after the lock on `durable` is ours, so that nothing is copied that was merged. */
  #copy(): number {
    const { recent, durable, durableCapacity, memtable } = this.#stores;
    durableCapacity.claim();
    memtable.refresh();
    const copied = readCopied(this.#stores);
    const changed = memtable.changedAfter(copied);
    if (changed.length > 0) {
      durable.putSync(logRow(memtable.applied), packRow(changed, copied));
      takePending(recent, durable, copied);
      markCopied(this.#stores, memtable.applied);
    }
    return memtable.applied;
  }

  /** Merges some keys, in their newest state: no other process's older one can land on it, under the lock. True when the log is gone from `durable`. */
  #step(merge: Merge): boolean {
    const { memtable, durable } = this.#stores;
    const copied = this.#copy();
    if (merge.epoch !== memtable.epoch) merge.begin(memtable.epoch, copied, memtable.unmerged());
    for (const entry of merge.next()) saveEntry(durable, entry, memtable.mergedTo);
    return merge.isDone && removeLog(durable, merge.upTo);
  }

  /** Only after all is on disk; a kill before this only means that it is merged once more. True when nothing is left. */
  #forget(upTo: number): boolean {
    const { recent } = this.#stores;
    return recent.transactionSync(() => {
      putDouble(recent, FORGOTTEN_MARK, Math.max(upTo, doubleIn(recent, FORGOTTEN_MARK)));
      return removeLog(recent, upTo);
    });
  }
}

/** How far one merge has come. */
class Merge {
  epoch = -1;
  /** All that transactions up to this one changed is in it. */
  upTo = 0;
  /** By how their ids begin: to sort all of them at once would hold up the event loop. */
  #groups: KeyEntry[][] = [];
  #sorted: readonly KeyEntry[] = [];
  #at = 0;

  begin(epoch: number, upTo: number, entries: Iterable<KeyEntry>): void {
    this.epoch = epoch;
    this.upTo = upTo;
    const groups: KeyEntry[][] = [];
    for (const entry of entries) (groups[entry.id.charCodeAt(0)] ??= []).push(entry);
    this.#groups = Object.values(groups);
    this.#sorted = [];
    this.#at = 0;
  }

  /** In the order of their rows in `durable`. */
  next(): readonly KeyEntry[] {
    if (this.#at >= this.#sorted.length) {
      this.#sorted = (this.#groups.shift() ?? []).sort((a, b) => (a.id < b.id ? -1 : 1));
      this.#at = 0;
    }
    const start = this.#at;
    this.#at += KEYS_AT_ONCE;
    return this.#sorted.slice(start, this.#at);
  }

  get isDone(): boolean {
    return this.#groups.length === 0 && this.#at >= this.#sorted.length;
  }
}

/** Removes the oldest rows of the log, up to that of a transaction. True when none is left. */
function removeLog(store: Store, upTo: number): boolean {
  const names = [...store.getKeys({ ...rangeOf('l'), end: logRow(upTo + 1), limit: ROWS_AT_ONCE })];
  for (const name of names) store.removeSync(name);
  return names.length < ROWS_AT_ONCE;
}
