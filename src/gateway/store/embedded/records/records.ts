import type { CustomerRecord, CustomerStore } from '../../records/customer.js';
import { isCorrection } from '../../records/correction.js';
import type { KeyRecord } from '../../records/key.js';
import type { AuditEntry } from '../../records/record.js';
import type { RecordStore, StoredRecord } from '../../records/record.js';
import { VersionConflict, type KeyChange, type KeyStore } from '../../port.js';
import { changingRecords, reading } from '../files/errors.js';
import { AFTER_ALL, banNoteRow, correctedRow, customerRow, historyRow, recordRow, webhookRow } from '../files/rows.js';
import type { Store } from '../files/store.js';
import type { Stores } from '../files/stores.js';
import { appendPending } from '../journal/pending.js';
import { writeBan } from './bans.js';
import { checkVersion, jsonIn } from './versions.js';
import { bytesOf, historyIn, noteCorrected, putHistory, snapshotsOf } from './snapshots.js';

/** What differs between keys and customers. A change is on disk before it is acknowledged. */
interface RecordType<Beside> {
  readonly row: (id: string) => string;
  readonly correctedRow: (id: string) => string;
  /** In a transaction: writes what comes with a change. */
  readonly putBeside: (durable: Store, id: string, beside: Beside) => void;
  /** The row beside the record: it moves with it, and erasing takes it away. */
  readonly besideRow: (id: string) => string;
}

const KEYS: RecordType<KeyChange> = {
  row: recordRow,
  correctedRow: (id) => correctedRow('k', id),
  putBeside(durable, _id, { emit, withdraw }) {
    appendPending(durable, [...withdraw, ...emit]);
  },
  besideRow: banNoteRow,
};

const CUSTOMERS: RecordType<never> = {
  row: customerRow,
  correctedRow: (id) => correctedRow('K', id),
  putBeside: () => undefined,
  besideRow: webhookRow,
};

export function keysOf(stores: Stores): KeyStore {
  const records = recordsOf<KeyRecord, KeyChange>(stores, KEYS);
  return {
    ...records,
    write: (record, entry, change) =>
      change?.ban === undefined ? records.write(record, entry, change) : writeBan(stores, record, entry, change),
  };
}

export function customersOf(stores: Stores): CustomerStore {
  return {
    ...recordsOf<CustomerRecord, never>(stores, CUSTOMERS),
    keyCount: (id) =>
      reading(stores, (durable) => durable.getKeysCount({ start: recordRow(id), end: recordRow(id + AFTER_ALL) })),
  };
}

function recordsOf<R extends StoredRecord, Beside>(stores: Stores, type: RecordType<Beside>): RecordStore<R, Beside> {
  const { row } = type;
  /** In a transaction: the record in place of the version before. */
  const put = (record: R): void => {
    stores.durableCapacity.claim();
    checkVersion(stores, row(record.id), record);
    stores.durable.putSync(row(record.id), bytesOf(record));
  };
  const putEntry = (record: R, entry: AuditEntry): void => {
    stores.durable.putSync(historyRow(record.id, record.version), bytesOf(entry));
  };
  return {
    ...snapshotsOf<R>(stores, type),
    read: (id) => reading(stores, (durable) => jsonIn(durable, row(id)) as R | undefined),
    // What can be read here is on the disk.
    confirm: () => Promise.resolve(),
    write: (record, entry, beside) =>
      changingRecords(stores, () => {
        put(record);
        putEntry(record, entry);
        if (isCorrection(entry)) noteCorrected(stores.durable, type.correctedRow(record.id));
        if (beside !== undefined) type.putBeside(stores.durable, record.id, beside);
      }),
    rewrite: (record, history) =>
      changingRecords(stores, () => {
        // Before anything is written: what this transaction has written stays.
        if (historyIn(stores.durable, record.id).length !== history.length - 1)
          throw new VersionConflict(`the history of ${record.id} has changed`);
        put(record);
        putHistory(stores.durable, record, history);
        stores.durable.removeSync(type.besideRow(record.id));
      }),
    page: (afterId, limit) =>
      reading(stores, (durable) => {
        const range = { start: row(afterId ?? ''), end: row(AFTER_ALL), limit, exclusiveStart: true };
        return [...durable.getRange(range)].map(({ value }) => JSON.parse(value.toString()) as R);
      }),
    corrected: (afterId, limit) =>
      reading(stores, (durable) => {
        const [start, end] = [type.correctedRow(afterId ?? ''), type.correctedRow(AFTER_ALL)];
        const rows = [...durable.getKeys({ start, end, limit, exclusiveStart: true })];
        return rows.map((row) => row.slice(type.correctedRow('').length));
      }),
    async history(id) {
      await stores.fold.takeOver();
      return reading(stores, (durable) => historyIn(durable, id));
    },
  };
}
