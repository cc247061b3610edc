import type { CustomerRecord, CustomerStore } from '../../records/customer.js';
import type { KeyRecord, KeyStore } from '../../records/key.js';
import { recordStoreOn } from '../../records/record-store.js';
import { reading } from '../files/errors.js';
import { AFTER_ALL, banNoteRow, correctedRow, customerRow, recordRow, webhookRow } from '../files/rows.js';
import type { Stores } from '../stores.js';
import { EmbeddedRows } from './rows.js';

const KEYS = { row: recordRow, correctedRow: (id: string) => correctedRow('k', id), noteRow: banNoteRow };
const CUSTOMERS = { row: customerRow, correctedRow: (id: string) => correctedRow('K', id), noteRow: webhookRow };

export function keysOf(stores: Stores): KeyStore {
  return recordStoreOn(new EmbeddedRows<KeyRecord>(stores, KEYS));
}

export function customersOf(stores: Stores): CustomerStore {
  return {
    ...recordStoreOn(new EmbeddedRows<CustomerRecord>(stores, CUSTOMERS)),
    keyCount: (id) =>
      reading(stores, (durable) => durable.getKeysCount({ start: recordRow(id), end: recordRow(id + AFTER_ALL) })),
  };
}
