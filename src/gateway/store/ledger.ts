import type { CustomerRecord } from './records/customer.js';
import type { KeyRecord } from './records/key.js';
import type { RecordStore } from './records/record.js';
import type { Finality } from './finality.js';
import type { Counts, StoredRow, UsageRow } from './records/counts.js';

/** Which rows to read. */
export interface Part {
  /** Only of this key. */
  readonly keyId?: string | undefined;
  /** Only of keys after this one. */
  readonly after?: string | null | undefined;
}

export interface StoredPart extends Part {
  /**
   * `left out` omits days of a key that are marked as archived; `told` sets `isOnTop` only on their rows: without the
   * mark, an import may still be bringing the day.
   */
  readonly archived?: 'left out' | 'told';
}

/** The archive that days were moved to, and which days. */
export interface ArchiveNote {
  readonly id: string;
  /** What it had of them when they were moved; null for days that version 0.3 moved or was about to. */
  readonly days: ReadonlyMap<string, Counts | null>;
}

/** Reads these days of keys from the archive. Rejects with ArchiveUnavailable, also if it lacks a noted day. */
export type ArchivedRows = (
  note: ArchiveNote | null,
  wanted: readonly Pick<UsageRow, 'key' | 'day'>[],
) => Promise<readonly UsageRow[]>;

/** Tells the owner of a row, and who had which plan when. */
export interface Accounts {
  readonly keys: Pick<RecordStore<KeyRecord, never>, 'read' | 'page' | 'history' | 'corrected'>;
  readonly customers: Pick<RecordStore<CustomerRecord, never>, 'read' | 'page' | 'history' | 'corrected'>;
}

/**
 * The ledger of a shared store, for a separate process that reads it or moves it to an archive. Writes may stop
 * anywhere and be repeated. Rejects with StoreUnavailable.
 */
export interface LedgerStore {
  /** Rows of these days, keys in the order of their IDs. */
  rows(days: readonly string[], part: StoredPart): AsyncIterable<readonly StoredRow[]>;
  /** All rows of a day that is complete here: keys in the order of IDs, then plan and operation. */
  day(day: string): AsyncIterable<readonly UsageRow[]>;
  /**
   * Removes these rows of a day; counts beyond them stay. Marks each key in the same step: the archive has its day, and
   * later counts are on top.
   */
  remove(day: string, rows: AsyncIterable<readonly UsageRow[]>): Promise<void>;
  /**
   * Sets these marks; with `all` also where complete counts are here, which then count as on top of the archive.
   */
  mark(day: string, rows: AsyncIterable<readonly UsageRow[]>, all: boolean): Promise<void>;
  /** Adds rows to the counts on top of them and removes the mark in the same step: then the day is complete here. */
  restore(day: string, rows: AsyncIterable<readonly UsageRow[]>): Promise<void>;
  /** The store's ID, and other IDs that an operator accepted for it. */
  ids(): Promise<readonly string[]>;
  /** Null before the first day is moved. */
  archive(): Promise<ArchiveNote | null>;
  /**
   * Notes the archive, unless another one is noted, and raises what is noted of its days to `days`. Returns the ID of
   * the noted one.
   */
  bind(archiveId: string, days: ArchiveNote['days']): Promise<string>;
  /** Notes this archive in any case, and what it has of these days: null for a day that it lacks. */
  accept(archiveId: string, days: ArchiveNote['days']): Promise<void>;
  /** The archive no longer has this day; with no days left, none is noted. */
  unbind(day: string): Promise<void>;
  nowMs(): Promise<number>;
  finality(nowMs: number): Promise<Finality>;
  readonly accounts: Accounts;
  close(): Promise<void>;
}

/** The ledger as it moves from one store to another. */
export interface LedgerTransfer {
  /** All rows of the days before `day`; admissions have priority. */
  rowsBefore(day: string): AsyncIterable<readonly StoredRow[]>;
  /**
   * Raises each count to at least the given one. Resolves to how many rows grew: 0 if repeated. Reads days from the
   * archive that are complete there, and then may also reject with ArchiveUnavailable.
   */
  raise(rows: readonly StoredRow[]): Promise<number>;
  /**
   * Changes before and after each `raise` of any gateway, and when a restored store or an archive is accepted: final
   * days may then have other counts. Redis: names the store too. Embedded: only of this process.
   */
  revision(): Promise<string>;
  /** The archive of days; absent if the store has none. */
  readonly archive?: Pick<LedgerStore, 'archive' | 'bind'>;
}
