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
export interface Capacity {
  /**
   * Call it before anything that may grow the files. Throws StoreUnavailable if they must not grow.
   * @param isForced checks the disk in any case
   */
  claim(isForced?: boolean): void;
}

export function capacityOf(folder: string, maxBytes: number, usedBytes: () => number): Capacity {
  let [claims, everyClaim]: [number, boolean] = [0, false];
  let refusal: string | null = null;
  const measure = (): void => {
    const { bavail, bsize } = diskOf(folder);
    const freeBytes = bavail * bsize;
    everyClaim = freeBytes < NEARLY_FULL_BYTES;
    refusal = null;
    if (freeBytes < SPARE_BYTES) refusal = diskMessage(folder, 'full');
    else if (usedBytes() >= maxBytes)
      refusal =
        `The embedded store in ${folder} has reached its bound of ${maxBytes} bytes. Raise store.map_size and ` +
        'restart, or keep usage for fewer days.';
  };
  return {
    claim(isForced = false) {
      if (isForced) claims = 0;
      if (everyClaim || claims % CLAIMS_PER_CHECK === 0) measure();
      claims += 1;
      if (refusal !== null) throw new StoreUnavailable(refusal);
    },
  };
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
