import type { KeyChange } from './key.js';
import type { AuditEntry, RecordStore, Snapshot, StoredRecord } from './record.js';

/** A key or customer as one read showed it. */
export type Current<R extends StoredRecord> = Pick<Snapshot<R>, 'history' | 'state'> & {
  /** Undefined if there is none; something may have been spent nonetheless. */
  readonly record: R | undefined;
};

/** A change of one record: everything in it is written, or nothing. */
export interface Commit<R extends StoredRecord> {
  readonly record: R;
  /** The version that must be stored now; 0 for none. */
  readonly over: number;
  /** Appended to the history. */
  readonly entries: readonly AuditEntry[];
  /** `entries` replaces the history, which must have one entry less; the note of a ban is removed. */
  readonly replaces?: boolean;
  /** How much of its balance may be spent at most. */
  readonly maxSpent?: number | undefined;
  readonly change?: KeyChange | undefined;
}

/** What replaces the data of a key or customer; what is absent stays. Usage is raised to the larger figures. */
export type Replacement<R extends StoredRecord> = Partial<Pick<Snapshot<R>, 'history' | 'state'>> & {
  readonly given: Snapshot<R>;
  /** Whether record and note are replaced, too. */
  readonly replaces: boolean;
};

/** Decides what to write from what is there; called again if that has changed meanwhile. Null writes nothing. */
export type Decide<R extends StoredRecord> = (current: Current<R>) => Replacement<R> | null;

/** A record to replace. */
export interface Change<R extends StoredRecord> {
  readonly id: string;
  /** Whether the new history has corrections. */
  readonly hasCorrections: boolean;
  readonly decide: Decide<R>;
}

/**
 * Rows of one type of records: all that an engine implements for them (`recordStoreOn` has the rules). Every change is
 * as durable as RecordStore says when its promise resolves, and rejects as described there.
 */
export interface Rows<R extends StoredRecord> extends Pick<
  RecordStore<R, KeyChange>,
  'read' | 'confirm' | 'page' | 'snapshots' | 'history' | 'corrected'
> {
  /**
   * Rejects, having written nothing, with VersionConflict unless the stored version is `over`, and with Overdrawn if
   * more than `maxSpent` is spent of its balance.
   */
  commit(commit: Commit<R>): Promise<void>;
  /** Replaces the data of records, each in one step. Resolves to whether any figure in the ledger grew, for each. */
  replace(changes: readonly Change<R>[]): Promise<readonly boolean[]>;
}
