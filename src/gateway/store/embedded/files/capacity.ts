import { statfsSync } from 'node:fs';
import { StoreUnavailable } from '../../../admission/port.js';
import type { Store } from './database.js';

/** Claims per check of file and disk, which costs 4 µs. */
const CLAIMS_PER_CHECK = 16;
/** With less free space than this, every claim checks. */
const NEARLY_FULL_BYTES = 64 * 1_048_576;
/** Free space to keep: a write that does not fit makes lmdb overrun its error text, which may end the process. */
const SPARE_BYTES = 131_072;

/** Keeps files within their bound and their disk: lmdb-js lets them grow without limit, even beyond `mapSize`. */
export class Capacity {
  readonly #folder: string;
  readonly #maxBytes: number;
  readonly #usedBytes: () => number;
  #claims = 0;
  #everyClaim = false;
  #refusal: string | null = null;

  constructor(folder: string, maxBytes: number, usedBytes: () => number) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
    this.#usedBytes = usedBytes;
  }

  /** Call it before anything that may grow the files. Throws StoreUnavailable if they must not grow. */
  claim(): void {
    if (this.#everyClaim || this.#claims % CLAIMS_PER_CHECK === 0) this.#measure();
    this.#claims += 1;
    if (this.#refusal !== null) throw new StoreUnavailable(this.#refusal);
  }

  /** Like `claim`, but always checks the disk. */
  check(): void {
    this.#claims = 0;
    this.claim();
  }

  #measure(): void {
    const { bavail, bsize } = diskOf(this.#folder);
    const freeBytes = bavail * bsize;
    this.#everyClaim = freeBytes < NEARLY_FULL_BYTES;
    this.#refusal = null;
    if (freeBytes < SPARE_BYTES) this.#refusal = diskMessage(this.#folder, 'full');
    else if (this.#usedBytes() >= this.#maxBytes)
      this.#refusal =
        `The embedded store in ${this.#folder} has reached its bound of ${this.#maxBytes} bytes. Raise ` +
        'store.map_size and restart, or keep usage for fewer days.';
  }
}

/** Returns the message for a disk that is full or failing. */
export function diskMessage(folder: string, state: string): string {
  return `The disk that holds ${folder} is ${state}. Free space there; admission then continues.`;
}

interface Stats {
  readonly pageSize: number;
  readonly root: {
    readonly treeBranchPageCount: number;
    readonly treeLeafPageCount: number;
    readonly overflowPages: number;
  };
}

/** Returns the bytes of pages in use. The file also has free pages, which the next transactions reuse. */
export function usedBytesOf(store: Store): number {
  const { pageSize, root } = store.getStats() as Stats;
  return pageSize * (root.treeBranchPageCount + root.treeLeafPageCount + root.overflowPages);
}

/** Throws StoreUnavailable if the folder is gone. */
function diskOf(folder: string): { readonly bavail: number; readonly bsize: number } {
  try {
    return statfsSync(folder);
  } catch (error) {
    throw new StoreUnavailable(`The embedded store cannot write: its folder ${folder} is gone`, { cause: error });
  }
}
