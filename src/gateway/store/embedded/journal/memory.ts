import { noCounts } from '../../records/counts.js';
import { freshState, type SubjectState } from '../../../admission/decide.js';
import { copyOfState, unpackState } from '../../subject-state.js';
import { usageRow } from '../files/rows.js';
import type { Store } from '../files/store.js';
import type { BanOfKey } from './ban-history.js';
import { Entry, unpackCounts, type Kind, type Slot } from './entry.js';
import type { Label } from './label.js';
import type { PendingEvent } from './pending.js';
import { unpackSubjects, type JournalRecord, type Rare } from './record.js';

/** Cached subjects, beyond those that must be kept: about 500 bytes each. */
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
 * file; after that it is a cache.
 */
export class Memory {
  readonly #files: { readonly durable: Store };
  readonly #entries = { s: new Map<string, Entry>(), a: new Map<string, Entry>() };
  /** Entries that only the journal has, and those that a fold is writing to the file. */
  #unfolded = new Set<Entry>();
  #folding = new Set<Entry>();
  readonly #rows = new Map<string, ChangedRow>();
  #pending: Pending[] = [];
  #foldedTo = 0;
  #epoch = 0;

  constructor(files: { readonly durable: Store }) {
    this.#files = files;
  }

  /** Increases when everything is read again: entries obtained before are stale. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Number of subjects that only the journal has. */
  get unfoldedCount(): number {
    return this.#unfolded.size + this.#folding.size;
  }

  /** The file has all subject changes up to this record. */
  get foldedTo(): number {
    return this.#foldedTo;
  }

  /** Whether there is anything for `pendingTo`. */
  get hasPending(): boolean {
    return this.#pending.length + this.#rows.size > 0;
  }

  /** Returns the entry of a key, a customer or an address, and keeps it. */
  entry(kind: Kind, id: string): Entry {
    const entries = this.#entries[kind];
    let entry = entries.get(id);
    if (entry === undefined) {
      entries.set(id, (entry = new Entry(kind, id, this.#storedState(kind, id))));
    }
    return entry;
  }

  /** The same for reading only: undefined if the file is up to date. */
  find(kind: Kind, id: string): Entry | undefined {
    return this.#entries[kind].get(id);
  }

  /** Returns a copy of a key's state. */
  stateOf(id: string): SubjectState {
    const entry = this.find('s', id);
    return entry === undefined ? this.#storedState('s', id) : copyOfState(entry.state);
  }

  /** The counts of a key under a label. Other days than today may have been deleted since they were folded. */
  slot(entry: Entry, label: Label, today: string): Slot {
    const known = entry.slot(label);
    if (known !== undefined && (known.changedBy > this.#foldedTo || label.day === today)) return known;
    const bytes = this.#files.durable.getBinaryFast(usageRow(entry.id, label.text));
    return entry.put(label, bytes === undefined ? noCounts() : unpackCounts(bytes), 0);
  }

  /** A row as of the last record that changed it, or as in the file. */
  row(name: string): Buffer | undefined {
    const changed = this.#rows.get(name);
    return changed === undefined ? this.#files.durable.getBinary(name) : (changed.bytes ?? undefined);
  }

  /** Whether the journal has a change of a row that the file lacks. */
  isPending(name: string): boolean {
    return this.#rows.has(name);
  }

  /** The journal now has the record of this number. */
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

  /** Events, bans and rows up to this record, for the file. */
  pendingTo(number: number): {
    readonly pending: readonly Pending[];
    readonly rows: readonly (readonly [name: string, row: ChangedRow])[];
  } {
    return {
      pending: this.#pending.filter((one) => one.number <= number),
      rows: [...this.#rows].filter(([, { by }]) => by <= number),
    };
  }

  /** The file has what `pendingTo` gave. */
  taken(number: number): void {
    this.#pending = this.#pending.filter((one) => one.number > number);
    for (const [name, { by }] of this.#rows) if (by <= number) this.#rows.delete(name);
  }

  /** For a fold: all subjects that only the journal has. */
  beginFold(): ReadonlySet<Entry> {
    // The last fold may have failed.
    for (const entry of this.#folding) this.#unfolded.add(entry);
    this.#folding = this.#unfolded;
    this.#unfolded = new Set();
    return this.#folding;
  }

  /** The file now has what `beginFold` returned: all changes up to this record. */
  async folded(number: number, today: string, giveWay: () => Promise<void>): Promise<void> {
    this.#foldedTo = number;
    const folded = this.#folding;
    this.#folding = new Set();
    let count = 0;
    for (const entry of folded) {
      if (entry.changedBy <= number) entry.forgetSlots(number, today);
      if (++count % FORGOTTEN_AT_ONCE === 0) await giveWay();
    }
  }

  /** Drops the oldest cached entries, more than needed, because it walks over all others. */
  makeRoom(): void {
    const { s, a } = this.#entries;
    if (s.size + a.size <= MAX_ENTRIES + this.unfoldedCount) return;
    for (const entries of [a, s])
      for (const [id, entry] of entries) {
        if (s.size + a.size <= MAX_ENTRIES - MAX_ENTRIES / 8) return;
        if (!this.#unfolded.has(entry) && !this.#folding.has(entry)) entries.delete(id);
      }
  }

  /** Clears everything, after a batch failed that had changed entries. */
  clear(): void {
    const { s, a } = this.#entries;
    for (const entries of [s, a, this.#folding, this.#unfolded, this.#rows]) entries.clear();
    this.#pending = [];
    this.#epoch += 1;
  }

  #storedState(kind: Kind, id: string): SubjectState {
    const bytes = this.#files.durable.getBinaryFast(kind + id);
    return bytes === undefined ? freshState() : unpackState(bytes);
  }
}
