import type { AuditEntry, KeyRecord } from '../../records/key.js';
import { VersionConflict } from '../../port.js';
import type { KeyStore } from '../../port.js';
import { importsOf } from './imports.js';
import { AFTER_ALL, banNoteRow, historyRange, historyRow, recordRow } from '../files/rows.js';
import { appendPending } from '../log/pending.js';
import { committedBytes, place, recordsChanged, replaceHistory, stagedIn } from './staged.js';
import type { Store } from '../files/store.js';
import type { Stores } from '../files/stores.js';
import { attempt, inTransaction } from '../files/errors.js';

/** Key records live in `durable` alone: synced to disk before a change is acknowledged, read by every admission. */
export function keysOf(stores: Stores): KeyStore {
  return {
    read: (id) => attempt(stores, () => readRecord(stores.durable, id)),
    write: (record, entry, { emit, withdraw } = { emit: [], withdraw: [] }) =>
      inTransaction(stores, () => {
        put(stores, record);
        stores.durable.putSync(historyRow(record.id, record.version), Buffer.from(JSON.stringify(entry)));
        appendPending(stores.durable, [...withdraw, ...emit]);
      }),
    rewrite: (record, history) =>
      inTransaction(stores, () => {
        put(stores, record);
        replaceHistory(stores.durable, record.id, record.version, history);
        stores.durable.removeSync(banNoteRow(record.id));
      }),
    // What can be read here is on the disk.
    confirm: () => Promise.resolve(),
    page: (afterId, count) =>
      attempt(stores, () => {
        const start = recordRow(afterId ?? '');
        const range = { start, end: recordRow(AFTER_ALL), limit: count, exclusiveStart: true };
        return rowsOf(stores.durable, range).map((bytes) => JSON.parse(bytes.toString()) as KeyRecord);
      }),
    history: (id) =>
      attempt(stores, () => {
        return rowsOf(stores.durable, historyRange(id)).map((bytes) => JSON.parse(bytes.toString()) as AuditEntry);
      }),
    imports: importsOf(stores),
  };
}

/** In a transaction: the record in place of the version before. */
function put({ durable, durableCapacity }: Stores, record: KeyRecord): void {
  durableCapacity.claim();
  const staged = stagedIn(durable, record.id);
  if (staged !== undefined && !place(durable, staged))
    throw new VersionConflict(`Key ${record.id} is just being imported.`);
  const stored = durable.getBinary(recordRow(record.id));
  const storedVersion = stored === undefined ? 0 : (JSON.parse(stored.toString()) as KeyRecord).version;
  if (storedVersion !== record.version - 1) {
    throw new VersionConflict(
      `Key ${record.id} is at version ${storedVersion}, not ${record.version - 1}: read it again and repeat the change.`,
    );
  }
  // A put that fails spoils the whole transaction, so that no row is ever there alone.
  durable.putSync(recordRow(record.id), Buffer.from(JSON.stringify(record)));
  recordsChanged(durable);
}

function readRecord(durable: Store, id: string): KeyRecord | undefined {
  durable.resetReadTxn();
  const bytes = durable.getBinary(recordRow(id)) ?? committedBytes(durable, id);
  return bytes === undefined ? undefined : (JSON.parse(bytes.toString()) as KeyRecord);
}

function rowsOf(
  durable: Store,
  range: { start: string; end: string; limit?: number; exclusiveStart?: boolean },
): readonly Buffer[] {
  durable.resetReadTxn();
  const values: Buffer[] = [];
  for (const { value } of durable.getRange(range)) values.push(value);
  return values;
}
