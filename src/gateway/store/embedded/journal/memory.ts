import { noCounts } from '../../records/counts.js';
import { freshState, type SubjectState } from '../../../admission/decide.js';
import { copyOfState, unpackState } from '../../state.js';
import { usageRow } from '../files/rows.js';
import type { Store } from '../files/database.js';
import type { BanOfKey } from './ban-history.js';
import { Entry, unpackCounts, type Kind, type Slot } from './entry.js';
import type { Label } from './label.js';
import type { PendingEvent } from './pending.js';
import { unpackSubjects, type JournalRecord, type Rare } from './record.js';

/** Cached subjects, in addition to those that must be kept: about 500 bytes each. */
const MAX_ENTRIES = 131_072;
/** Entries whose counts are dropped before the event loop gets a turn. */
const FORGOTTEN_AT_ONCE = 5_000;

/** Events and automatic bans of a record, not yet in the file. */
interface Pending {
  readonly number: number;
  readonly events: readonly PendingEvent[];
  readonly bans: readonly BanOfKey[];
}

/** A row of the file as changed by a record; null if removed. */
interface ChangedRow {
  readonly bytes: Buffer | null;
  readonly by: number;
}

/**
 * The state for admissions: the journal's contents on top of the file's. An entry must stay until it is folded into the
 * file; after that it is only cached.
 */
export class Memory {
  readonly #files: { readonly durable: Store };
  readonly #entries = { s: new Map<string, Entry>(), a: new Map<string, Entry>() };
  /** Entries that only the journal has, and those that a fold is writing to the file. */
  #unfolded = new Set<Entry>();
  #folding = new Set<Entry>();
  readonly #rows = new Map<string, ChangedRow>();
  #pending: Pending[] = [];
  /** The file has all subject changes up to this record. */
  foldedTo = 0;
  /** Increases when everything is read again: entries obtained before are stale. */
  epoch = 0;

  constructor(files: { readonly durable: Store }) {
    this.#files = files;
  }

  /** Number of subjects that only the journal has. */
  get unfoldedCount(): number {
    return this.#unfolded.size + this.#folding.size;
  }

  /** Whether there is anything for `pendingTo`. */
  get hasPending(): boolean {
    return this.#pending.length + this.#rows.size > 0;
  }

  /** Returns the entry of a key, a customer or an address, and keeps it. */
  entry(kind: Kind, id: string): Entry {
    const entries = this.#entries[kind];
    let entry = entries.get(id);
    if (entry === undefined) entries.set(id, (entry = new Entry(kind, id, this.#storedState(kind, id))));
    return entry;
  }

  /** Returns the entry, for reading only; undefined if it is not in memory. */
  find(kind: Kind, id: string): Entry | undefined {
    return this.#entries[kind].get(id);
  }

  /** Returns a copy of a state. */
  stateOf(kind: Kind, id: string): SubjectState {
    const entry = this.find(kind, id);
    return entry === undefined ? this.#storedState(kind, id) : copyOfState(entry.state);
  }

  /** Returns a key's counts under a label. Rereads folded ones of other days: the sweep may have deleted them. */
  slot(entry: Entry, label: Label, today: string): Slot {
    const known = entry.slot(label);
    if (known !== undefined && (known.changedBy > this.foldedTo || label.day === today)) return known;
    const bytes = this.#files.durable.getBinaryFast(usageRow(entry.id, label.text));
    return entry.put(label, bytes === undefined ? noCounts() : unpackCounts(bytes), 0);
  }

  /** Returns a row as of the last record that changed it, else from the file. */
  row(name: string): Buffer | undefined {
    const changed = this.#rows.get(name);
    return changed === undefined ? this.#files.durable.getBinary(name) : (changed.bytes ?? undefined);
  }

  /** Whether the journal has a change of a row that the file lacks. */
  isPending(name: string): boolean {
    return this.#rows.has(name);
  }

  /** Notes that the journal now has this record. */
  committed(number: number, changed: readonly Entry[], rare: Rare | null): void {
    for (const entry of changed) this.#unfolded.add(entry);
    if (rare === null) return;
    const { rows = [], events = [], bans = [] } = rare;
    for (const [name, bytes] of rows)
      this.#rows.set(name, { bytes: bytes === null ? null : Buffer.from(bytes, 'base64'), by: number });
    if (events.length + bans.length > 0) this.#pending.push({ number, events, bans });
  }

  /** Applies a record that was read again. @param takenTo events up to this record are in the file */
  apply({ number, subjects, rare }: JournalRecord, takenTo: number): void {
    const changed: Entry[] = [];
    for (const { kind, id, state, slots } of unpackSubjects(subjects)) {
      const entry = this.#entries[kind].get(id) ?? new Entry(kind, id, state);
      this.#entries[kind].set(id, entry);
      entry.state = state;
      entry.changedBy = number;
      for (const { label, counts } of slots) entry.put(label, counts, number);
      changed.push(entry);
    }
    this.committed(number, changed, rare && (number > takenTo ? rare : { rows: rare.rows }));
  }

  /** Returns the events, bans and rows up to this record that the file lacks. */
  pendingTo(number: number): {
    readonly pending: readonly Pending[];
    readonly rows: readonly (readonly [name: string, row: ChangedRow])[];
  } {
    return {
      pending: this.#pending.filter((one) => one.number <= number),
      rows: [...this.#rows].filter(([, { by }]) => by <= number),
    };
  }

  /** Notes that the file has what `pendingTo` returned. */
  taken(number: number): void {
    this.#pending = this.#pending.filter((one) => one.number > number);
    for (const [name, { by }] of this.#rows) if (by <= number) this.#rows.delete(name);
  }

  /** Returns all subjects that only the journal has, for a fold. */
  beginFold(): ReadonlySet<Entry> {
    // The last fold may have failed.
    for (const entry of this.#folding) this.#unfolded.add(entry);
    this.#folding = this.#unfolded;
    this.#unfolded = new Set();
    return this.#folding;
  }

  /** Notes that the file has what `beginFold` returned: all changes up to this record. */
  async folded(number: number, today: string, giveWay: () => Promise<void>): Promise<void> {
    this.foldedTo = number;
    const folded = this.#folding;
    this.#folding = new Set();
    let count = 0;
    for (const entry of folded) {
      if (entry.changedBy <= number) entry.forgetSlots(number, today);
      if (++count % FORGOTTEN_AT_ONCE === 0) await giveWay();
    }
  }

  /** Drops the oldest cached entries; an eighth more than needed, because looking for them is slow. */
  makeRoom(): void {
    const { s, a } = this.#entries;
    if (s.size + a.size <= MAX_ENTRIES + this.unfoldedCount) return;
    for (const entries of [a, s])
      for (const [id, entry] of entries) {
        if (s.size + a.size <= MAX_ENTRIES - MAX_ENTRIES / 8) return;
        if (!this.#unfolded.has(entry) && !this.#folding.has(entry)) entries.delete(id);
      }
  }

  /** Drops everything, so that it is read again: a batch that had changed entries failed, or the file did. */
  clear(): void {
    const { s, a } = this.#entries;
    for (const entries of [s, a, this.#folding, this.#unfolded, this.#rows]) entries.clear();
    this.#pending = [];
    this.epoch += 1;
  }

  #storedState(kind: Kind, id: string): SubjectState {
    const bytes = this.#files.durable.getBinaryFast(kind + id);
    return bytes === undefined ? freshState() : unpackState(bytes);
  }
}
