import type { CustomerRecord, CustomerStore } from '../../records/customer.js';
import type { Webhook } from '../../records/webhook.js';
import type { AuditEntry } from '../../records/key.js';
import { VersionConflict } from '../../port.js';
import { attempt, inTransaction } from '../files/errors.js';
import { AFTER_ALL, customerRow, historyRange, historyRow, recordRow, webhookRow } from '../files/rows.js';
import type { Store } from '../files/store.js';
import type { Stores } from '../files/stores.js';
import { recordsChanged, replaceHistory } from './staged.js';

/** Customers live in `durable`, beside the records of their keys: a change holds, as one of a key does, with the next transaction. */
export function customersOf(stores: Stores): CustomerStore {
  return {
    read: (id) =>
      attempt(stores, () => {
        stores.durable.resetReadTxn();
        return customerIn(stores.durable, id);
      }),
    // What can be read here is on the disk.
    confirm: () => Promise.resolve(),
    write: (record, entry, webhook) =>
      inTransaction(stores, () => {
        write(stores, record, webhook);
        stores.durable.putSync(historyRow(record.id, record.version), Buffer.from(JSON.stringify(entry)));
      }),
    rewrite: (record, history) =>
      inTransaction(stores, () => {
        write(stores, record, null);
        replaceHistory(stores.durable, record.id, record.version, history);
      }),
    webhook: (id) =>
      attempt(stores, () => {
        stores.durable.resetReadTxn();
        const bytes = stores.durable.getBinary(webhookRow(id));
        return bytes && (JSON.parse(bytes.toString()) as Webhook);
      }),
    page: (afterId, count) =>
      attempt(stores, () => {
        stores.durable.resetReadTxn();
        const range = { start: customerRow(afterId ?? ''), end: customerRow(AFTER_ALL), exclusiveStart: true };
        return [...stores.durable.getRange({ ...range, limit: count })].map(({ value }) => decoded(value));
      }),
    history: (id) =>
      attempt(stores, () => {
        stores.durable.resetReadTxn();
        return [...stores.durable.getRange(historyRange(id))].map(
          ({ value }) => JSON.parse(value.toString()) as AuditEntry,
        );
      }),
    keyCount: (id) =>
      attempt(stores, () => {
        stores.durable.resetReadTxn();
        return stores.durable.getKeysCount({ start: recordRow(id), end: recordRow(id + AFTER_ALL) });
      }),
  };
}

/** The record of a customer, in the caller's transaction or read. */
function customerIn(durable: Store, id: string): CustomerRecord | undefined {
  const bytes = durable.getBinary(customerRow(id));
  return bytes && decoded(bytes);
}

/** In a transaction. */
function write({ durable, durableCapacity }: Stores, record: CustomerRecord, webhook?: Webhook | null): void {
  durableCapacity.claim();
  const storedVersion = customerIn(durable, record.id)?.version ?? 0;
  if (storedVersion !== record.version - 1)
    throw new VersionConflict(
      `Customer ${record.id} is at version ${storedVersion}, not ${record.version - 1}: read it again and repeat the change.`,
    );
  durable.putSync(customerRow(record.id), Buffer.from(JSON.stringify(record)));
  if (webhook === null) durable.removeSync(webhookRow(record.id));
  else if (webhook !== undefined) durable.putSync(webhookRow(record.id), Buffer.from(JSON.stringify(webhook)));
  recordsChanged(durable);
}

function decoded(bytes: Buffer): CustomerRecord {
  return JSON.parse(bytes.toString()) as CustomerRecord;
}
