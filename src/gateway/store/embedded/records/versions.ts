import type { StoredRecord } from '../../records/record.js';
import { VersionConflict } from '../../port.js';
import type { Stores } from '../files/stores.js';

/** The record in a row as it is now: that of the journal where the file does not have it yet. */
export function recordNow({ memory }: Stores, row: string): StoredRecord | undefined {
  const bytes = memory.row(row);
  return bytes && (JSON.parse(bytes.toString()) as StoredRecord);
}

/** Throws VersionConflict unless `record` is the next version of what its row holds. */
export function checkVersion(stores: Stores, row: string, { id, version }: StoredRecord): void {
  const now = recordNow(stores, row)?.version ?? 0;
  if (now !== version - 1) throw new VersionConflict(`${id} is at version ${now}`);
}
