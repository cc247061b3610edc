import { isDeepStrictEqual } from 'node:util';
import { freshState } from '../../admission/decide.js';
import type { KeyChange } from './key.js';
import { isCorrection } from './correction.js';
import { maxSpent } from './credit.js';
import type { AuditEntry, RecordStore, Restored, Snapshot, StoredRecord } from './record.js';
import type { Current, Replacement, Rows } from './rows.js';
import { comparison, mergedHistory, mergedState, spentTogether } from './snapshot.js';

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
