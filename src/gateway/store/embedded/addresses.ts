import { addressRow } from './files/rows.js';
import type { Stores } from './files/stores.js';

/** Bytes of the map per row that may be there before new addresses have to share rows. */
const BYTES_PER_ROW = 1_024;
const SHARED_ROWS = 4_096;

/**
 * Says which row remembers an address. Whoever attacks chooses addresses, so that the number of rows
 * must have a bound: once `recent` holds one row per KiB of its map, an address not seen before shares
 * one of 4,096 rows with others until the sweep has made room. Keys are never affected.
 */
export class Addresses {
  readonly #stores: Stores;
  readonly #maxRows: number;
  #counted = 0;
  /** Rows that may have come since. */
  readonly #added = new Set<string>();

  constructor(stores: Stores) {
    this.#stores = stores;
    this.#maxRows = Math.floor(stores.mapBytes / BYTES_PER_ROW);
    if (stores.broken === null) this.recount();
  }

  /** To be called inside the transaction that uses the row. */
  row(address: string): string {
    const own = addressRow(address);
    if (this.#added.has(own) || this.#stores.recent.getBinaryFast(own) !== undefined) return own;
    if (this.#counted + this.#added.size >= this.#maxRows) return addressRow(`~${hashOf(address) % SHARED_ROWS}`);
    this.#added.add(own);
    return own;
  }

  /** Counts again what is there, other processes' rows included. */
  recount(): void {
    const { entryCount } = this.#stores.recent.getStats() as { readonly entryCount: number };
    this.#counted = entryCount;
    this.#added.clear();
  }
}

// FNV-1a, 32 bits. Who finds colliding addresses only shares a bucket with them.
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash;
}
