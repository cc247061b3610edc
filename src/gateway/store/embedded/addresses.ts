import { countRows } from './files/count-rows.js';
import { rangeOf } from './files/rows.js';
import type { Stores } from './files/stores.js';

/** Bytes of the map per row that may be there before new addresses have to share rows. */
const BYTES_PER_ROW = 1_024;
const SHARED_ROWS = 4_096;

/**
 * Says which row remembers an address. Whoever attacks chooses addresses, so that the number of rows must have a bound:
 * once there is one row per KiB of the map, an address not seen before shares one of 4,096 rows with others until the
 * sweep has made room. Keys are never affected.
 */
export class Addresses {
  readonly #stores: Stores;
  readonly #maxRows: number;
  /** Rows in the file when they were counted last, and those that may have come since. */
  #counted = 0;
  #came = 0;

  constructor(stores: Stores) {
    this.#stores = stores;
    this.#maxRows = Math.floor(stores.mapBytes / BYTES_PER_ROW);
  }

  /** To be called inside the transaction that uses the row. */
  row(address: string): string {
    const { memory, durable } = this.#stores;
    if (memory.find('a', address) !== undefined || durable.getBinaryFast(`a${address}`) !== undefined) return address;
    if (this.#counted + this.#came >= this.#maxRows) return `~${hashOf(address) % SHARED_ROWS}`;
    this.#came += 1;
    return address;
  }

  /** Counts again what is in the file. */
  async recount(): Promise<void> {
    const { durable } = this.#stores;
    const came = this.#came;
    this.#counted = await countRows(durable, rangeOf('a'));
    this.#came -= came;
  }
}

// FNV-1a, 32 bits. Who finds colliding addresses only shares a bucket with them.
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash;
}
