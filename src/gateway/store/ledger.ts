import type { CustomerRecord } from './records/customer.js';
import type { KeyRecord } from './records/key.js';
import type { RecordStore } from './records/record.js';
import type { Finality } from './finality.js';
import type { Counts, StoredRow, UsageRow } from './counts.js';

/** Which rows are asked for. */
export interface Part {
  /** Only of this key. */
  readonly keyId?: string | undefined;
  /** Only of keys behind this one. */
  readonly after?: string | null | undefined;
}

export interface StoredPart extends Part {
  /**
   * Leaves out days of a key that are marked as archived, or tells them from others: then alone a row comes on top that
   * has this mark. Else it may also be that no import brought the whole yet.
   */
  readonly archived?: 'left out' | 'told';
}

/** The archive that days were moved to, and which; without any named, nobody knows. */
export interface ArchiveNote {
  readonly id: string;
  /** What it had of them when they were moved; null for those that version 0.3 moved, or was about to. */
  readonly days: ReadonlyMap<string, Counts | null>;
}

/** What the archive has of these days of keys. Rejects with ArchiveUnavailable, also where it lacks a noted day. */
export type ArchivedRows = (
  note: ArchiveNote | null,
  wanted: readonly Pick<UsageRow, 'key' | 'day'>[],
) => Promise<readonly UsageRow[]>;

/** Says whom a row is about, and who had which plan when. */
export interface Accounts {
  readonly keys: Pick<RecordStore<KeyRecord, never>, 'read' | 'page' | 'history' | 'corrected'>;
  readonly customers: Pick<RecordStore<CustomerRecord, never>, 'read' | 'page' | 'history' | 'corrected'>;
}

/**
 * The ledger of a shared store, for a process that does nothing else: to be read, and to be moved into an archive. What
 * changes it may break off anywhere, and be repeated. Rejects with StoreUnavailable.
 */
export interface LedgerStore {
  /** Rows of these days: keys in the order of their ids. */
  rows(days: readonly string[], part: StoredPart): AsyncIterable<readonly StoredRow[]>;
  /** All of a day that is whole here, whoever counted: keys in the order of ids, a key's rows by plan and operation. */
  day(day: string): AsyncIterable<readonly UsageRow[]>;
  /**
   * Lets go of these rows of a day. What was counted beyond them stays. Each key is marked in the same step: the
   * archive has its day, and what is counted of it from then on comes on top.
   */
  remove(day: string, rows: AsyncIterable<readonly UsageRow[]>): Promise<void>;
  /** Makes these marks. `all`: also where there are counts, which come on top; else not where they are whole. */
  mark(day: string, rows: AsyncIterable<readonly UsageRow[]>, all: boolean): Promise<void>;
  /** Adds rows to what comes on top of them, and takes the mark away in the same step: the day is whole here then. */
  restore(day: string, rows: AsyncIterable<readonly UsageRow[]>): Promise<void>;
  /** Its id, and others that an operator let it be taken for. */
  ids(): Promise<readonly string[]>;
  /** null before the first day was moved. */
  archive(): Promise<ArchiveNote | null>;
  /** Names the archive, unless another one is named, and what it has at least of days. Gives the one that is named. */
  bind(archiveId: string, days: ArchiveNote['days']): Promise<string>;
  /** Names this archive, whichever was named, and what it has of these days: null where it has none of one. */
  accept(archiveId: string, days: ArchiveNote['days']): Promise<void>;
  /** The archive has this day no more; without any, none is named. */
  unbind(day: string): Promise<void>;
  nowMs(): Promise<number>;
  finality(nowMs: number): Promise<Finality>;
  readonly accounts: Accounts;
  close(): Promise<void>;
}

/** The ledger as it moves from one store to another. */
export interface LedgerTransfer {
  /** Every row of the days before `day`; reading gives way to admissions. */
  rowsBefore(day: string): AsyncIterable<readonly StoredRow[]>;
  /**
   * Sees to it that each count is at least as large as given, beside what came before its key. How many rows grew; none
   * when it is repeated. Asks the archive where one of two has its whole there: then it rejects with ArchiveUnavailable
   * too.
   */
  raise(rows: readonly StoredRow[]): Promise<number>;
  /** The archive of days; absent where a store has none. */
  readonly archive?: Pick<LedgerStore, 'archive' | 'bind'>;
}
