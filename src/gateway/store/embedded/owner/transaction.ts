import type { Counts, UsageCounts } from '../../records/counts.js';
import type { Crossing } from '../../records/facts.js';
import { dayOf } from '../../../../shared/utc-day.js';
import { bannedRow, marksRow } from '../files/rows.js';
import { doubleOf } from '../files/database.js';
import type { Stores } from './stores.js';
import type { BanOfKey } from '../journal/ban-history.js';
import type { Entry, Slot } from '../journal/entry.js';
import { labelOf, type Label } from '../journal/label.js';
import { marked, type PendingEvent } from '../journal/pending.js';
import { packRecord, type Rare } from '../journal/record.js';

/**
 * Runs `work` as one batch: appends everything that it changed to the journal, or changes nothing. Throws
 * StoreUnavailable if there is no room, or the error of the write.
 */
export function transact<Result>(stores: Stores, work: (transaction: Transaction) => Result): Result {
  const transaction = new Transaction(stores);
  try {
    const result = work(transaction);
    transaction.finish();
    return result;
  } catch (error) {
    transaction.undo();
    // Memory may have changes that were not written.
    if (transaction.mayHaveChanged) stores.reload();
    throw error;
  }
}

/** The changes of one batch, which become one record of the journal. */
export class Transaction {
  readonly #stores: Stores;
  readonly #number: number;
  readonly #today = dayOf(Date.now());
  readonly #changed: Entry[] = [];
  #hasRoom = false;
  #rows: Map<string, Buffer | null> | undefined;
  #events: PendingEvent[] | undefined;
  #bans: BanOfKey[] | undefined;
  #undos: (() => void)[] | undefined;

  constructor(stores: Stores) {
    this.#stores = stores;
    this.#number = stores.journal.appended + 1;
    stores.memory.makeRoom();
  }

  get mayHaveChanged(): boolean {
    return this.#hasRoom || this.#changed.length > 0;
  }

  /** Calls `undo` if the batch is not written. */
  otherwise(undo: () => void): void {
    (this.#undos ??= []).push(undo);
  }

  undo(): void {
    for (const undo of this.#undos ?? []) undo();
  }

  /** Claims room before anything is changed, so that a refusal leaves nothing to undo. Throws StoreUnavailable. */
  reserve(): void {
    if (this.#hasRoom) return;
    this.#stores.journalCapacity.claim();
    this.#hasRoom = true;
  }

  /** Returns the state of a key or customer. Call `change` after changing it. */
  key(id: string): Entry {
    return this.#stores.memory.entry('s', id);
  }

  /** Returns the state of an address, or of all that share its row (addresses.ts). */
  address(name: string): Entry {
    return this.#stores.memory.entry('a', name);
  }

  change(entry: Entry): void {
    if (entry.changedBy === this.#number) return;
    entry.changedBy = this.#number;
    this.#changed.push(entry);
  }

  /** Adds to a key's counts in the ledger, on the day of `atMs`; returns them. */
  count(entry: Entry, plan: string, operation: string, atMs: number, field: keyof UsageCounts, by = 1): Counts {
    const slot = this.slot(entry, labelOf(atMs, plan, operation + this.#stores.counter));
    this.changeSlot(entry, slot);
    slot.counts[field] += by;
    return slot.counts;
  }

  /** Returns a key's counts under a label. Call `changeSlot` after changing them. */
  slot(entry: Entry, label: Label): Slot {
    return this.#stores.memory.slot(entry, label, this.#today);
  }

  changeSlot(entry: Entry, slot: Slot): void {
    this.change(entry);
    slot.changedBy = this.#number;
  }

  /** Adds a banned subject to the index of bans, if needed. @param started whether this refusal began the ban */
  banned(entry: Entry, untilMs: number, started: boolean): void {
    if (started || this.#row(bannedRow(entry)) === undefined) this.noteBan(entry, untilMs);
  }

  /** Starts a ban at level 1, whatever is in force; 0 lifts it and resets strikes and level. */
  setBan(entry: Entry, untilMs: number): void {
    const banLevel = untilMs > 0 ? 1 : 0;
    Object.assign(entry.state, { bannedUntilMs: untilMs, banLevel, strikes: 0, strikesSinceMs: 0 });
    this.change(entry);
    this.noteBan(entry, untilMs);
  }

  /** Writes the end of a ban into the index of bans; 0 removes it. */
  noteBan(entry: Entry, untilMs: number): void {
    const name = bannedRow(entry);
    if (untilMs > 0) this.putRow(name, doubleOf(untilMs));
    else if (this.#row(name) !== undefined) this.putRow(name, null);
  }

  /** Adds an automatic ban of a key to its history. */
  automaticBan(ban: BanOfKey): void {
    (this.#bans ??= []).push(ban);
  }

  /** Emits an event with everything else in the batch, or withdraws one. */
  emit(event: PendingEvent): void {
    (this.#events ??= []).push(event);
  }

  /** Marks a crossing of a key or customer. Returns false if it was marked before. */
  isFirst(subjectId: string, crossing: Crossing): boolean {
    const name = marksRow(subjectId);
    const marks = marked(this.#row(name), crossing);
    if (marks !== null) this.putRow(name, marks);
    return marks !== null;
  }

  /** Writes a row of the file with everything else in the batch; null removes it. */
  putRow(name: string, bytes: Buffer | null): void {
    (this.#rows ??= new Map<string, Buffer | null>()).set(name, bytes);
  }

  /** Appends all changes to the journal. Nothing may follow. */
  finish(): void {
    const rare = this.#rare();
    if (this.#changed.length === 0 && rare === null) return;
    this.reserve();
    const { journal, memory } = this.#stores;
    journal.append(this.#number, packRecord(this.#number, this.#changed, rare));
    memory.committed(this.#number, this.#changed, rare);
  }

  #rare(): Rare | null {
    if (this.#rows === undefined && this.#events === undefined && this.#bans === undefined) return null;
    const rows = [...(this.#rows ?? [])].map(([name, bytes]) => [name, bytes?.toString('base64') ?? null] as const);
    return { rows, events: this.#events, bans: this.#bans };
  }

  #row(name: string): Buffer | undefined {
    const changed = this.#rows?.get(name);
    return changed === undefined ? this.#stores.memory.row(name) : (changed ?? undefined);
  }
}
