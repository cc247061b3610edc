import { noCounts } from '../../counts.js';
import { freshState, type SubjectState } from '../../../admission/decide.js';
import { KeyEntry, unpackCounts, type Slot } from './key-entry.js';
import type { Label } from './label.js';
import { unpackRow } from './row.js';
import { FORGOTTEN_MARK, logRow, rangeOf, stateRow, transactionOf, usageRow } from '../files/rows.js';
import { copyOfState, unpackState } from '../../subject-state.js';
import { doubleIn, type Store } from '../files/store.js';

/** Keys kept beyond those that must be: some 500 bytes each. */
const MAX_ENTRIES = 131_072;

/** Entries whose counts are let go of before the event loop has a turn. */
const FORGOTTEN_AT_ONCE = 5_000;

/**
 * This process's copy of what the log in `recent` says, by key, over what stands in `durable`: the memtable of
 * a log-structured store. It is brought up to date under the write lock that all processes share, so that it
 * never decides by what another process changed since. An entry must be here while the log alone knows it;
 * later it is a cache.
 */
export class Memtable {
  readonly #recent: Store;
  readonly #durable: Store;
  readonly #entries = new Map<string, KeyEntry>();
  /** What the copy of the log may not know, in the order of the first change that it lacks. */
  readonly #uncopied = new Set<KeyEntry>();
  /** What the log and its copy alone know; and of that, what a merge is writing to its rows. */
  #unmerged = new Set<KeyEntry>();
  #merging = new Set<KeyEntry>();
  #applied = 0;
  /** No transaction up to this one has to be looked for in the log. */
  #seen = 0;
  #mergedTo = 0;
  #epoch = 0;

  constructor(recent: Store, durable: Store) {
    this.#recent = recent;
    this.#durable = durable;
  }

  /** Grows when entries were dropped: whoever holds some must ask again. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Rows of the log up to this transaction are in here. */
  get applied(): number {
    return this.#applied;
  }

  /** How many keys the log alone knows. */
  get unmergedCount(): number {
    return this.#unmerged.size + this.#uncopied.size + this.#merging.size;
  }

  /** All that transactions up to this one changed was taken for the copy, here or by another process. */
  get takenTo(): number {
    const [first] = this.#uncopied;
    return first === undefined ? this.#applied : first.uncopiedSince - 1;
  }

  /** What transactions up to this one changed stands in the rows of `durable`. */
  get mergedTo(): number {
    return this.#mergedTo;
  }

  /** In the write transaction `transaction` on `recent`, before anything is read of this. */
  catchUp(transaction: number): void {
    // Somebody opened the files while others committed (shared/opening.ts): what was decided since is not in them.
    if (transaction <= this.#seen) throw new Error(`transaction ids went back from ${this.#seen} to ${transaction}`);
    // Ids have no gaps: where the last was our own, nobody wrote in between.
    if (transaction !== this.#seen + 1) this.#readLog();
    this.#seen = transaction - 1;
    if (this.#entries.size > MAX_ENTRIES + this.unmergedCount) this.#makeRoom();
  }

  /** The same for a reader, who needs no lock. */
  refresh(): void {
    this.#recent.resetReadTxn();
    this.#readLog();
    this.#durable.resetReadTxn();
  }

  /** The log has the row of `transaction`, which is as the entries it changed. */
  committed(transaction: number, changed: readonly KeyEntry[]): void {
    this.#seen = transaction;
    this.#applied = transaction;
    for (const entry of changed) this.#await(entry);
  }

  /** What is known of a key, or of a customer by its id. A new entry is kept. */
  entry(id: string): KeyEntry {
    let entry = this.#entries.get(id);
    if (entry === undefined) {
      entry = new KeyEntry(id, this.#storedState(id));
      this.#entries.set(id, entry);
    }
    return entry;
  }

  /** The same for somebody who only looks: undefined when `durable` knows best. */
  find(id: string): KeyEntry | undefined {
    return this.#entries.get(id);
  }

  /** A key's state as it is, to do with as one likes. After `refresh`. */
  stateOf(id: string): SubjectState {
    const entry = this.#entries.get(id);
    return entry === undefined ? this.#storedState(id) : copyOfState(entry.state);
  }

  /** The counts of a key under a label. Those of other days than today may have been removed since they were merged. */
  slot(entry: KeyEntry, label: Label, today: string): Slot {
    const known = entry.slot(label);
    if (known !== undefined && (known.changedBy > this.#mergedTo || label.day === today)) return known;
    const bytes = this.#durable.getBinaryFast(usageRow(entry.id, label.text));
    return entry.put(label, bytes === undefined ? noCounts() : unpackCounts(bytes), 0);
  }

  /**
   * For the copy of the log: those of `entries` that wait for it, and `count` others, those first that wait longest.
   */
  takeUncopied(count: number, entries: readonly KeyEntry[]): readonly KeyEntry[] {
    const taken = entries.filter((entry) => this.#uncopied.delete(entry));
    const end = taken.length + count;
    for (const entry of this.#uncopied) {
      if (taken.length === end) break;
      this.#uncopied.delete(entry);
      taken.push(entry);
    }
    for (const entry of taken) this.#unmerged.add(entry);
    return taken;
  }

  /** What was taken did not get to the copy: it waits again, as if nothing of it had ever been copied. */
  putBack(entries: readonly KeyEntry[]): void {
    const waiting = [...this.#uncopied];
    this.#uncopied.clear();
    for (const entry of entries) {
      // Emptied meanwhile, it has another entry for the key, or none.
      if (this.#entries.get(entry.id) !== entry) continue;
      entry.uncopiedSince = 1;
      this.#uncopied.add(entry);
    }
    for (const entry of waiting) this.#uncopied.add(entry);
  }

  /** Entries that the log alone knows. */
  unmerged(): ReadonlySet<KeyEntry> {
    return new Set([...this.#merging, ...this.#unmerged, ...this.#uncopied]);
  }

  /** For a merge: all that transactions up to `takenTo` changed, and is not in the rows of `durable`. */
  beginMerge(): ReadonlySet<KeyEntry> {
    // A merge may have failed.
    for (const entry of this.#merging) this.#unmerged.add(entry);
    this.#merging = this.#unmerged;
    this.#unmerged = new Set();
    return this.#merging;
  }

  /** What `beginMerge` gave stands in the rows of `durable`: all that transactions up to `transaction` changed. */
  async merged(transaction: number, today: string, giveWay: () => Promise<void>): Promise<void> {
    this.#mergedTo = Math.max(this.#mergedTo, transaction);
    const merged = this.#merging;
    this.#merging = new Set();
    let count = 0;
    for (const entry of merged) {
      if (entry.changedBy <= transaction) entry.forgetSlots(transaction, today);
      if (++count % FORGOTTEN_AT_ONCE === 0) await giveWay();
    }
  }

  /** Forgets everything: a transaction failed that had changed entries. */
  reset(): void {
    this.#entries.clear();
    this.#merging.clear();
    this.#unmerged.clear();
    this.#uncopied.clear();
    this.#applied = 0;
    this.#seen = 0;
    this.#epoch += 1;
  }

  #storedState(id: string): SubjectState {
    const bytes = this.#durable.getBinaryFast(stateRow(id));
    return bytes === undefined ? freshState() : unpackState(bytes);
  }

  #readLog(): void {
    const forgotten = doubleIn(this.#recent, FORGOTTEN_MARK);
    // Rows that were never read here are gone from the log.
    if (forgotten > this.#applied) this.reset();
    this.#mergedTo = Math.max(this.#mergedTo, forgotten);
    this.#applied = Math.max(this.#applied, forgotten);
    for (const { key, value } of this.#recent.getRange({
      ...rangeOf('l'),
      start: logRow(this.#applied),
      exclusiveStart: true,
    })) {
      this.#applied = transactionOf(key);
      for (const { id, state, slots } of unpackRow(value)) this.#apply(id, state, slots);
    }
  }

  #apply(id: string, state: SubjectState, slots: readonly Omit<Slot, 'changedBy'>[]): void {
    const entry = this.#entries.get(id) ?? new KeyEntry(id, state);
    entry.state = state;
    entry.changedBy = this.#applied;
    for (const { label, counts } of slots) entry.put(label, counts, this.#applied);
    this.#entries.set(id, entry);
    this.#await(entry);
  }

  /** It changed by the last transaction that was applied. */
  #await(entry: KeyEntry): void {
    if (this.#uncopied.has(entry)) return;
    entry.uncopiedSince = this.#applied;
    this.#uncopied.add(entry);
  }

  /** Drops the oldest that are no more than a cache, some more than needed: it costs a walk over those that aren't. */
  #makeRoom(): void {
    for (const [id, entry] of this.#entries) {
      if (this.#entries.size <= MAX_ENTRIES - MAX_ENTRIES / 8) return;
      if (entry.changedBy <= this.#mergedTo) this.#entries.delete(id);
    }
  }
}
