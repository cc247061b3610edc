import type { CustomerRecord } from './records/customer.js';
import type { KeyRecord } from './records/key.js';
import type { RecordStore } from './records/record.js';
import type { Finality } from './finality.js';
import type { UsageRow } from './counts.js';

/** Which rows are asked for. */
export interface Part {
  /** Only of this key. */
  readonly keyId?: string | undefined;
  /** Only of keys behind this one. */
  readonly after?: string | null | undefined;
}

export interface StoredPart extends Part {
  /** Days that are being moved: rows may have what the archive has too. */
  readonly held?: ReadonlySet<string>;
}

/** A row of a key and day that has what the archive has of them too; what any other has comes on top. */
export interface StoredRow extends UsageRow {
  readonly isWhole?: true;
}

/** Which archive days were moved to, and those that it may have; without any named, nobody knows which. */
export interface ArchiveNote {
  readonly id: string;
  readonly days: ReadonlySet<string>;
}

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
  /** All that was counted of a day, whoever did: keys in the order of their ids, a key's rows by plan and operation. */
  day(day: string): AsyncIterable<readonly UsageRow[]>;
  /**
   * Lets go of these rows of a day. What was counted beyond them stays. Each key gets a mark in the same step: what it
   * has of the day comes on top.
   */
  remove(day: string, rows: AsyncIterable<readonly UsageRow[]>): Promise<void>;
  /** Makes these marks, where the store has let go of the whole day. */
  mark(day: string, rows: AsyncIterable<readonly UsageRow[]>): Promise<void>;
  /** Takes them away. */
  unmark(day: string, rows: AsyncIterable<readonly UsageRow[]>): Promise<void>;
  /**
   * Adds rows to those of their key and day, and takes the mark away in the same step; does nothing where there is
   * none.
   */
  restore(day: string, rows: AsyncIterable<readonly UsageRow[]>): Promise<void>;
  /** Its id, and others that an operator let it be taken for. */
  ids(): Promise<readonly string[]>;
  /** null before the first day was moved. */
  archive(): Promise<ArchiveNote | null>;
  /**
   * Names the archive, unless another one is named, and the days that it has or is to have. Gives the one that is
   * named.
   */
  bind(archiveId: string, days: readonly string[]): Promise<string>;
  /** The archive has this day no more; without any, none is named. */
  unbind(day: string): Promise<void>;
  nowMs(): Promise<number>;
  finality(nowMs: number): Promise<Finality>;
  readonly accounts: Accounts;
  close(): Promise<void>;
}

/** A row as it moves from one store to another. */
export interface MovedRow extends UsageRow {
  /** The archive has a row of this key and day too, and this comes on top. */
  readonly isOnTop?: true | undefined;
}

/** The ledger as it moves from one store to another. */
export interface LedgerTransfer {
  /** Every row of the days before `day`; reading gives way to admissions. */
  rowsBefore(day: string): AsyncIterable<readonly MovedRow[]>;
  /** Sees to it that each count is at least as large as given. How many rows grew; none when it is repeated. */
  raise(rows: readonly MovedRow[]): Promise<number>;
  /** The archive of days; absent where a store has none. */
  readonly archive?: Pick<LedgerStore, 'archive' | 'bind'>;
}
