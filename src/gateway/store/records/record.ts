import type { SubjectState } from '../../admission/decide.js';
import type { StoredRow } from '../counts.js';

/** What keys and customers have in common. */
export interface StoredRecord {
  readonly id: string;
  /** Grows by one with each change: a change names the version it saw, and loses when another came first. */
  readonly version: number;
}

/** Of a key the days that an archive has, as bits in base64 (redis/ledger/archived-days.ts). */
export type ArchivedDays = Readonly<Record<string, string>>;

/** All that a store holds of one key or customer, as of one moment: what moves to another store. */
export interface Snapshot<R extends StoredRecord> {
  readonly record: R;
  readonly history: readonly AuditEntry[];
  /** What was spent, strikes and ban. */
  readonly state: SubjectState;
  /** Of a key the note of its ban; null without one. */
  readonly beside: object | null;
  /** What was counted of a key on the days that were asked for. */
  readonly usage: readonly StoredRow[];
  /** Left out where an archive has none, and of a customer. */
  readonly archived?: ArchivedDays | undefined;
}

/**
 * What became of a snapshot: `newer`, the record changed here since and stays (the larger figures count all the same);
 * `different`, here is another record of that id, and nothing was touched.
 */
export type Restored = 'added' | 'changed' | 'unchanged' | 'newer' | 'different';

/**
 * Records of one type, `Beside` being what is written in one step with them. Every change holds on the next admission
 * of every gateway, and is durable when the promise ends. Writes reject with ChangeUncertain when no replica confirmed
 * them, `write` and `rewrite` with VersionConflict.
 */
export interface RecordStore<R extends StoredRecord, Beside> {
  read(id: string): Promise<R | undefined>;
  /** Ends when what is stored is as certain as after `write`: for a change that finds itself made already. */
  confirm(id: string): Promise<void>;
  /** Writes `record` and its audit entry in one step if the stored version is `record.version - 1` (0: absent). */
  write(record: R, entry: AuditEntry, beside?: Beside): Promise<void>;
  /**
   * Writes `record` as `write` does, puts `history` in place of all its history, and forgets what stands beside it: of
   * a key the note of a ban. VersionConflict too unless it is one entry more than there is.
   */
  rewrite(record: R, history: readonly AuditEntry[]): Promise<void>;
  /** Up to `count` records with an id after `afterId`, by id; the whole list is a chain of such pages. */
  page(afterId: string | null, count: number): Promise<readonly R[]>;
  /** As `page`, each with all that stands beside it; of keys what was counted from `fromDay` on too. */
  snapshots(afterId: string | null, count: number, fromDay: string): Promise<readonly Snapshot<R>[]>;
  /**
   * Puts in what `snapshots` gave elsewhere, or here, where it is more than what is here; what became of each. May be
   * repeated, and is then as certain as after `write`.
   */
  restore(snapshots: readonly Snapshot<R>[]): Promise<readonly Restored[]>;
  /** In the order in which it happened. */
  history(id: string): Promise<readonly AuditEntry[]>;
  /** Up to `count` ids after `afterId` of those whose history may have corrections, by id. */
  corrected(afterId: string | null, count: number): Promise<readonly string[]>;
}

/** Who did what nobody did by hand. */
export const GATEWAY = 'petgate';

/** Whether it is of a ban that began by itself. Such entries are of no version of the record. */
export function isAutomaticBan({ action, changed }: AuditEntry): boolean {
  return action === 'banned' && changed['level'] !== undefined;
}

/**
 * One line of the history of a key or a customer. `changed` holds what the change set, never a secret or its hash;
 * in a change of what was there before, `{from, to}` by field.
 */
export interface AuditEntry {
  readonly atMs: number;
  /** Who did it: `admin-api`, or the name the caller gave. */
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
    | 'erased';
  readonly changed: Readonly<Record<string, unknown>>;
}
