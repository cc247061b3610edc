import type { Counts } from '../../counts.js';
import { freshState, type SubjectState } from '../../../admission/decide.js';
import type { UsageCounts } from '../../port.js';
import type { Crossing } from '../../outbox/facts.js';
import type { GatewayEvent } from '../../outbox/event.js';
import { noteBan } from '../records/ban-index.js';
import { dayOf } from '../ledger/day.js';
import type { KeyEntry, Slot } from './key-entry.js';
import { labelOf, type Label } from './label.js';
import { writeBans, type BanOfKey } from './ban-history.js';
import { packRow } from './row.js';
import { mark, writePending } from './pending.js';
import { isDamage } from '../files/damage.js';
import { bannedRow, logRow } from '../files/rows.js';
import type { Stores } from '../files/stores.js';
import { packState, unpackState } from '../../subject-state.js';

/** An address and what is remembered of it. Written at the end when `changed` is set. */
interface AddressEntry {
  readonly state: SubjectState;
  changed: boolean;
}

/**
 * Runs `work` in a write transaction on `recent`, which one process of all has at a time. What it changed is
 * written at its end, or nothing is. Throws StoreUnavailable when there is no room, and what lmdb throws.
 */
export function transact<Result>(stores: Stores, work: (transaction: Transaction) => Result): Result {
  let transaction: Transaction | undefined;
  try {
    return stores.recent.transactionSync(() => {
      transaction = new Transaction(stores);
      const result = work(transaction);
      transaction.finish();
      return result;
    });
  } catch (error) {
    // What is in memory is all there may be of the last half second.
    if (isDamage(error)) stores.reopen(String(error));
    // Entries may be changed that were not written. What the log says of them has to be read again.
    else if (transaction?.mayHaveChanged === true) stores.memtable.reset();
    throw error;
  }
}

/** The working set of one transaction on `recent`. All keys it changes become one row of the log. */
export class Transaction {
  readonly #stores: Stores;
  readonly #id: number;
  readonly #today = dayOf(Date.now());
  readonly #changed: KeyEntry[] = [];
  #addresses: Map<string, AddressEntry> | undefined;
  #hasRoom = false;
  /** Ends of bans to be noted, by the row of the subject. */
  #bans: Map<string, number> | undefined;
  #pending: GatewayEvent[] | undefined;
  #automaticBans: BanOfKey[] | undefined;

  constructor(stores: Stores) {
    this.#stores = stores;
    this.#id = stores.recent.getWriteTxnId();
    stores.memtable.catchUp(this.#id);
    // What another process put there before this moment has to be seen.
    stores.durable.resetReadTxn();
  }

  get mayHaveChanged(): boolean {
    return this.#hasRoom || this.#changed.length > 0;
  }

  /**
   * Sees to it that there is room, before anything is changed: a refusal then leaves nothing to undo. Throws
   * StoreUnavailable.
   */
  reserve(): void {
    if (this.#hasRoom) return;
    this.#stores.recentCapacity.claim();
    this.#hasRoom = true;
  }

  /** What is remembered of a key. Whoever changes its state says so with `change`. */
  key(id: string): KeyEntry {
    return this.#stores.memtable.entry(id);
  }

  change(entry: KeyEntry): void {
    if (entry.changedBy === this.#id) return;
    entry.changedBy = this.#id;
    this.#changed.push(entry);
  }

  /** Adds one for the ledger to a key's counts, on the day of `atMs`; gives them. */
  count(entry: KeyEntry, plan: string, operation: string, atMs: number, field: keyof UsageCounts): Counts {
    const slot = this.slot(entry, labelOf(atMs, plan, operation + this.#stores.counter));
    this.changeSlot(entry, slot);
    slot.counts[field] += 1;
    return slot.counts;
  }

  /** What was counted of a key under a label. Whoever changes it says so with `changeSlot`. */
  slot(entry: KeyEntry, label: Label): Slot {
    return this.#stores.memtable.slot(entry, label, this.#today);
  }

  changeSlot(entry: KeyEntry, slot: Slot): void {
    this.change(entry);
    slot.changedBy = this.#id;
  }

  /** What is remembered under a row of `recent` that holds an address. */
  address(name: string): AddressEntry {
    this.#addresses ??= new Map<string, AddressEntry>();
    let entry = this.#addresses.get(name);
    if (entry === undefined) {
      const bytes = this.#stores.recent.getBinaryFast(name);
      entry = { state: bytes === undefined ? freshState() : unpackState(bytes), changed: false };
      this.#addresses.set(name, entry);
    }
    return entry;
  }

  /** A subject was refused by a ban: it is among those in force, also when the machine was restarted since. */
  banned(subject: string, untilMs: number, started: boolean): void {
    if (!started && this.#stores.recent.getBinaryFast(bannedRow(subject)) !== undefined) return;
    this.#bans ??= new Map<string, number>();
    this.#bans.set(subject, untilMs);
  }

  /** A ban of a key began by itself: its history is to have it. */
  automaticBan(ban: BanOfKey): void {
    (this.#automaticBans ??= []).push(ban);
  }

  /** Writes an event with all else; whoever calls it changes an entry too. */
  emit(event: GatewayEvent): void {
    (this.#pending ??= []).push(event);
  }

  /** True the first time that a key, or a customer, crosses a share of a limit. */
  isFirst(subjectId: string, crossing: Crossing): boolean {
    return mark(this.#stores.recent, subjectId, crossing);
  }

  /** Writes all changes, as the last thing in the transaction. */
  finish(): void {
    const { recent, memtable } = this.#stores;
    const addresses = [...(this.#addresses ?? [])].filter(([, { changed }]) => changed);
    if (this.#changed.length + addresses.length + (this.#bans?.size ?? 0) === 0) return;
    this.reserve();
    for (const [name, { state }] of addresses) recent.putSync(name, packState(state));
    for (const [subject, untilMs] of this.#bans ?? []) noteBan(recent, subject, untilMs);
    if (this.#pending !== undefined) writePending(recent, this.#id, this.#pending);
    if (this.#automaticBans !== undefined) writeBans(recent, this.#id, this.#automaticBans);
    if (this.#changed.length === 0) return;
    recent.putSync(logRow(this.#id), packRow(this.#changed, this.#id - 1));
    memtable.committed(this.#id, this.#changed);
  }
}
