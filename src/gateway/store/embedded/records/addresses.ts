import { countRows } from '../files/count-rows.js';
import { rangeOf } from '../files/rows.js';
import type { Stores } from '../owner/stores.js';

/** One row per this many bytes of the map. */
const BYTES_PER_ROW = 1_024;
const SHARED_ROWS = 4_096;

/**
 * Finds the row of an address. Attackers choose addresses, so the number of rows is bounded: once there is one row per
 * KiB of the map, a new address shares one of 4,096 rows with others until the sweep has made room. Keys are not
 * affected.
 */
export interface Addresses {
  /** Returns the name of an address's row. Call it inside the transaction that uses the row. */
  row(address: string): string;
  /** Counts the rows in the file again. */
  recount(): Promise<void>;
}

export function addressesOf(stores: Stores): Addresses {
  const maxRows = Math.floor(stores.mapBytes / BYTES_PER_ROW);
  /** Rows in the file at the last count, and those added since. */
  let [counted, added] = [0, 0];
  return {
    row(address) {
      const { memory, durable } = stores;
      if (memory.find('a', address) !== undefined || durable.getBinaryFast(`a${address}`) !== undefined) return address;
      if (counted + added >= maxRows) return `~${hashOf(address) % SHARED_ROWS}`;
      added += 1;
      return address;
    },
    async recount() {
      const before = added;
      counted = await countRows(stores.durable, rangeOf('a'));
      added -= before;
    },
  };
}

// FNV-1a, 32 bits. An attacker who finds colliding addresses only shares a bucket with them.
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash;
}
