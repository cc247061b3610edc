import type { StoredRecord } from '../../records/record.js';
import { VersionConflict } from '../../port.js';
import type { Store } from '../files/store.js';
import type { Stores } from '../files/stores.js';

/** The JSON in a row; undefined if there is none. */
export function jsonIn(durable: Store, row: string): unknown {
  const bytes = durable.getBinary(row);
  return bytes && JSON.parse(bytes.toString());
}

/**
 * The record in a row, for a change of it. Throws VersionConflict while the file lacks a ban by hand that the journal
 * has: it would replace the change.
 */
export function recordIn({ memory, durable }: Stores, row: string): StoredRecord | undefined {
  if (memory.isPending(row)) throw new VersionConflict('the record is being changed');
  return jsonIn(durable, row) as StoredRecord | undefined;
}

/** Throws VersionConflict unless `record` is the next version of what its row holds. */
export function checkVersion(stores: Stores, row: string, { id, version }: StoredRecord): void {
  const now = recordIn(stores, row)?.version ?? 0;
  if (now !== version - 1) throw new VersionConflict(`${id} is at version ${now}`);
}
