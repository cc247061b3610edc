import { isDeepStrictEqual } from 'node:util';
import { freshState } from '../../admission/decide.js';
import type { KeyChange } from './key.js';
import { isCorrection } from './correction.js';
import { maxSpent } from './credit.js';
import type { AuditEntry, RecordStore, Restored, Snapshot, StoredRecord } from './record.js';
import { comparison, mergedHistory, mergedState, spentTogether } from './snapshot.js';

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

export interface Change<R extends StoredRecord> {
  readonly id: string;
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

/** Writes that may skip versions: a gateway restores changes that the store lost. */
export interface Overtaking<R extends StoredRecord> {
  /** Writes `record` with its audit entry if the stored version is `over`. Rejects as `write` does. */
  overtake(record: R, over: number, entry: AuditEntry): Promise<void>;
}

/** The rules for records, the same on every engine. */
export function recordStoreOn<R extends StoredRecord>(rows: Rows<R>): RecordStore<R, KeyChange> & Overtaking<R> {
  const { read, confirm, page, snapshots, history, corrected } = rows;
  return {
    ...{ read, confirm, page, snapshots, history, corrected },
    write: (record, entry, change) =>
      rows.commit({ record, over: record.version - 1, entries: [entry], maxSpent: maxSpent(entry), change }),
    rewrite: (record, entries) => rows.commit({ record, over: record.version - 1, entries, replaces: true }),
    overtake: (record, over, entry) => rows.commit({ record, over, entries: [entry] }),
    async restore(given) {
      const restored: Restored[] = [];
      const changes = given.map((each, n) => ({
        id: each.record.id,
        hasCorrections: each.history.some(isCorrection),
        decide: (current: Current<R>) => {
          const [how, replacement] = restoring(current, each);
          restored[n] = how;
          return replacement;
        },
      }));
      const grown = await rows.replace(changes);
      return restored.map((how, n) => (how === 'unchanged' && grown[n]! ? 'changed' : how));
    },
  };
}

/** How a snapshot compares with what is here, and what to write. */
function restoring<R extends StoredRecord>(
  { record, history, state }: Current<R>,
  given: Snapshot<R>,
): readonly [Restored, Replacement<R> | null] {
  const how = comparison(record && { record, history }, given);
  if (how === 'different') return [how, null];
  const merged = {
    // Whatever a key without a record here has spent comes in addition to the snapshot.
    state:
      how === 'added'
        ? spentTogether(mergedState(freshState(), given.state, how), state)
        : mergedState(state, given.state, how),
    history: mergedHistory(history, given.history, how),
  };
  const replaces = how === 'added' || how === 'changed';
  if (replaces) return [how, { given, replaces, ...merged }];
  const isSame = isDeepStrictEqual(merged, { state, history });
  if (isSame) return [how, { given, replaces }];
  return [how === 'unchanged' ? 'changed' : how, { given, replaces, ...merged }];
}
