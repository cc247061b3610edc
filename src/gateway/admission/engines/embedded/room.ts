import { StoreUnavailable } from '../../port.js';
import type { Store } from './store.js';

/** Claims between two looks at the file: a look costs 4 µs. */
const CLAIMS_PER_LOOK = 16;

interface Stats {
  readonly pageSize: number;
  readonly root: { readonly treeBranchPageCount: number; readonly treeLeafPageCount: number; readonly overflowPages: number };
}

/** Keeps one file within its bound: lmdb-js itself lets files grow without end, whatever its `mapSize`. */
export class Room {
  readonly #store: Store;
  readonly #mapBytes: number;
  readonly #message: string;
  #claims = 0;
  #full = false;

  constructor(store: Store, folder: string, mapBytes: number) {
    this.#store = store;
    this.#mapBytes = mapBytes;
    this.#message = `The embedded store in ${folder} has reached its bound of ${mapBytes} bytes. Raise store.map_bytes and restart, or keep usage for fewer days.`;
  }

  /** To be called in a transaction that may make the file grow. Throws StoreUnavailable when it must not. */
  claim(): void {
    if (this.#claims % CLAIMS_PER_LOOK === 0) this.#full = this.usedBytes() >= this.#mapBytes;
    this.#claims += 1;
    if (this.#full) throw new StoreUnavailable(this.#message);
  }

  /** Bytes of pages in use. The file holds some free ones beside, which the next transactions use again. */
  usedBytes(): number {
    const { pageSize, root } = this.#store.getStats() as Stats;
    return pageSize * (root.treeBranchPageCount + root.treeLeafPageCount + root.overflowPages);
  }
}
