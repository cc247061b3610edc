import type { SubjectState } from '../../admission/decide.js';
import type { StoredRow } from './counts.js';

/** What keys and customers have in common. */
export interface StoredRecord {
  readonly id: string;
  /** Increases by one with each change: a change names the version it is based on, and fails if another came first. */
  readonly version: number;
}

/** The days of a key that an archive has, as bits in base64 (redis/ledger/archived-days.ts). */
export type ArchivedDays = Readonly<Record<string, string>>;

/** A consistent copy of a key or customer with all its data, to be moved to another store. */
export interface Snapshot<R extends StoredRecord> {
  readonly record: R;
  readonly history: readonly AuditEntry[];
  /** Spent units, strikes and ban. */
  readonly state: SubjectState;
  /** The note of a key's ban; null if there is none. */
  readonly banNote: object | null;
  /** A key's counts on the requested days. */
  readonly usage: readonly StoredRow[];
  /** Absent if an archive has none, and for customers. */
  readonly archived?: ArchivedDays | undefined;
}

/**
 * The result of restoring a snapshot. `newer`: the record here has changed since and stays (larger figures count).
 * `different`: another record has this ID, and nothing was changed.
 */
export type Restored = 'added' | 'changed' | 'unchanged' | 'newer' | 'different';

/**
 * Records of one type; `Change` is written in the same step. Every change applies to the next admission of every
 * gateway, and is durable when the promise resolves. Writes reject with ChangeUncertain if no replica confirmed them,
 * `write` and `rewrite` also with VersionConflict.
 */
export interface RecordStore<R extends StoredRecord, Change> {
  read(id: string): Promise<R | undefined>;
  /** Resolves when the stored data is as durable as after `write`: for a change that was made already. */
  confirm(id: string): Promise<void>;
  /**
   * Writes `record` and its history entry in one step if the stored version is `record.version - 1` (0: absent).
   * Rejects with Overdrawn for a credit that takes back units that are spent.
   */
  write(record: R, entry: AuditEntry, change?: Change): Promise<void>;
  /**
   * Like `write`, but replaces the whole history with `history` and removes the note of a ban. Also rejects with
   * VersionConflict unless `history` has exactly one entry more than the stored one.
   */
  rewrite(record: R, history: readonly AuditEntry[]): Promise<void>;
  /** Up to `count` records after `afterId`, by ID. */
  page(afterId: string | null, count: number): Promise<readonly R[]>;
  /** Like `page`, with all their data; for keys with the counts from `fromDay` on. */
  snapshots(afterId: string | null, count: number, fromDay: string): Promise<readonly Snapshot<R>[]>;
  /**
   * Restores snapshots from another store, or this one, where they have more than is here. Returns the result of each.
   * Idempotent; as durable as `write`.
   */
  restore(snapshots: readonly Snapshot<R>[]): Promise<readonly Restored[]>;
  /** Oldest first. */
  history(id: string): Promise<readonly AuditEntry[]>;
  /** Up to `count` IDs after `afterId` whose history may have corrections, by ID. */
  corrected(afterId: string | null, count: number): Promise<readonly string[]>;
}

/** The actor of automatic changes. */
export const GATEWAY = 'petgate';

/** Whether it is an automatic ban. Such entries belong to no version of the record. */
export function isAutomaticBan({ action, changed }: AuditEntry): boolean {
  return action === 'banned' && changed['level'] !== undefined;
}

/**
 * An entry in the history of a key or customer. `changed` has what was set, never a secret or its hash; for changes of
 * existing values, `{from, to}` by field.
 */
export interface AuditEntry {
  readonly atMs: number;
  /** The actor: `admin-api`, or the name that the caller gave. */
  readonly actor?: string;
  readonly action:
    | 'created'
    | 'imported'
    | 'changed'
    | 'rotated'
    | 'revoked'
    | 'banned'
    | 'lifted'
    | 'closed'
    | 'granted'
    | 'withdrawn'
    | 'corrected'
    | 'credited'
    | 'erased';
  readonly changed: Readonly<Record<string, unknown>>;
}
