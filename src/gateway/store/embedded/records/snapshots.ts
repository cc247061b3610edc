import { isDeepStrictEqual } from 'node:util';
import { comparison, mergedHistory, mergedState } from '../../records/snapshot.js';
import { isCorrection } from '../../records/correction.js';
import { isAutomaticBan } from '../../records/record.js';
import type { AuditEntry, RecordStore, Restored, Snapshot, StoredRecord } from '../../records/record.js';
import { VersionConflict } from '../../port.js';
import { untilUncontested } from '../../retry.js';
import { storedDays } from '../ledger/day-ledger.js';
import { dayOf } from '../ledger/day.js';
import { rowsOfKey } from '../ledger/rows.js';
import { raise } from '../ledger/transfer.js';
import { attempt, changingRecords, translating } from '../files/errors.js';
import { AFTER_ALL, automaticBanRow, historyRange, historyRow } from '../files/rows.js';
import type { Store } from '../files/store.js';
import type { Stores } from '../files/stores.js';
import { transact } from '../journal/transaction.js';
import { jsonIn, recordIn } from './versions.js';

/** Where the rows of a key or a customer stand. */
interface RowsOf {
  readonly row: (id: string) => string;
  readonly besideRow: (id: string) => string;
  readonly correctedRow: (id: string) => string;
}

/** Records with all that stands beside them, to be moved to another store and back. */
export function snapshotsOf<R extends StoredRecord>(
  stores: Stores,
  type: RowsOf,
): Pick<RecordStore<R, never>, 'snapshots' | 'restore'> {
  return {
    async snapshots(afterId, limit, fromDay) {
      await stores.fold.takeOver();
      return attempt(stores, () => {
        const { memory, durable } = stores;
        const today = dayOf(Date.now());
        const days = storedDays(durable, fromDay, today);
        const range = { start: type.row(afterId ?? ''), end: type.row(AFTER_ALL), limit, exclusiveStart: true };
        return [...durable.getRange(range)].map(({ value }) => {
          const record = JSON.parse(value.toString()) as R;
          const { id } = record;
          const beside = jsonIn(durable, type.besideRow(id)) as object | undefined;
          return {
            record,
            history: historyIn(durable, id),
            state: memory.stateOf(id),
            beside: beside ?? null,
            usage: rowsOfKey(stores, id, fromDay, today, days),
          };
        });
      });
    },
    restore: (snapshots) =>
      untilUncontested(async () => {
        // First what was spent: a key is never here without that. A kill in between is mended by the next run.
        const { compared, grown } = await attempt(stores, () => restoreStates(stores, type, snapshots));
        await translating(stores, () => stores.journal.sync());
        const longer = await changingRecords(stores, () => putRecords(stores, type, snapshots, compared));
        return compared.map((one, n) => (one === 'unchanged' && (grown[n]! || longer[n]!) ? 'changed' : one));
      }),
  };
}

function compareAll<R extends StoredRecord>(
  stores: Stores,
  type: RowsOf,
  snapshots: readonly Snapshot<R>[],
): readonly Restored[] {
  return snapshots.map((given) => {
    const record = recordIn(stores, type.row(given.record.id)) as R | undefined;
    return comparison(record && { record, history: historyIn(stores.durable, record.id) }, given);
  });
}

/** How the records compare, and of which any figure grew. */
function restoreStates<R extends StoredRecord>(
  stores: Stores,
  type: RowsOf,
  snapshots: readonly Snapshot<R>[],
): { readonly compared: readonly Restored[]; readonly grown: readonly boolean[] } {
  return transact(stores, (transaction) => {
    const compared = compareAll(stores, type, snapshots);
    const grown = snapshots.map(({ record: { id }, state, usage }, n) => {
      const how = compared[n]!;
      if (how === 'different') return false;
      const entry = transaction.key(id);
      const merged = mergedState(entry.state, state, how);
      const isSame = isDeepStrictEqual(merged, entry.state);
      if (!isSame) {
        transaction.reserve();
        entry.state = merged;
        transaction.change(entry);
        transaction.noteBan(entry, merged.bannedUntilMs);
      }
      return raise(transaction, usage) > 0 || !isSame;
    });
    return { compared, grown };
  });
}

/**
 * In a transaction on `durable`; of which the history got longer though the record stayed. Throws VersionConflict where
 * somebody changed one meanwhile.
 */
function putRecords<R extends StoredRecord>(
  stores: Stores,
  type: RowsOf,
  snapshots: readonly Snapshot<R>[],
  compared: readonly Restored[],
): readonly boolean[] {
  const { durable, durableCapacity } = stores;
  // Before anything is written: what this transaction has written stays.
  if (!isDeepStrictEqual(compareAll(stores, type, snapshots), compared))
    throw new VersionConflict('a record has changed');
  return snapshots.map(({ record, history, beside }, n) => {
    const how = compared[n]!;
    if (how === 'different') return false;
    durableCapacity.claim();
    const here = historyIn(durable, record.id);
    const merged = mergedHistory(here, history, how);
    if (merged.some(isCorrection)) noteCorrected(durable, type.correctedRow(record.id));
    if (how === 'unchanged' || how === 'newer') {
      if (merged.length > here.length) putHistory(durable, jsonIn(durable, type.row(record.id)) as R, merged);
      return merged.length > here.length;
    }
    durable.putSync(type.row(record.id), bytesOf(record));
    putHistory(durable, record, merged);
    if (beside === null) durable.removeSync(type.besideRow(record.id));
    else durable.putSync(type.besideRow(record.id), bytesOf(beside));
    return false;
  });
}

/** In a transaction: the history is this from now on, its last entry that of the record's version. */
export function putHistory(durable: Store, { id, version }: StoredRecord, history: readonly AuditEntry[]): void {
  for (const row of [...durable.getKeys(historyRange(id))]) durable.removeSync(row);
  let at = version - history.filter((entry) => !isAutomaticBan(entry)).length;
  for (const entry of history) {
    const isAutomatic = isAutomaticBan(entry);
    if (!isAutomatic) at += 1;
    const row = isAutomatic ? automaticBanRow(id, at, entry.atMs, String(entry.changed['until'])) : historyRow(id, at);
    durable.putSync(row, bytesOf(entry));
  }
}

/** In a transaction: `row` says whose history has corrections. */
export function noteCorrected(durable: Store, row: string): void {
  durable.putSync(row, Buffer.alloc(0));
}

export function historyIn(durable: Store, id: string): readonly AuditEntry[] {
  return [...durable.getRange(historyRange(id))].map(({ value }) => JSON.parse(value.toString()) as AuditEntry);
}

export function bytesOf(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}
