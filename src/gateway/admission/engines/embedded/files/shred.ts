import { StoreUnavailable } from '../../../port.js';
import { inTransaction } from './errors.js';
import { fillerRow, rangeOf } from './rows.js';
import type { Stores } from './stores.js';

/** Two fill a page. */
const FILLER = Buffer.alloc(1_900);
const ROWS_AT_ONCE = 1_000;
/** For pages that come free meanwhile. */
const SPARE_ROWS = 500;
/** A page is used again only when two more transactions have ended since it came free. */
const WAIT = 3;

interface Stats {
  readonly lastPageNumber: number;
}

/**
 * Writes over the free pages of `durable`, for they hold what was replaced or removed until lmdb uses them again. As
 * far as the store has room: it says nothing when that is less.
 */
export async function shred(stores: Stores): Promise<void> {
  const { durable, durableCapacity } = stores;
  const fill = (from: number, to: number): Promise<void> =>
    inTransaction(stores, () => {
      durableCapacity.claim();
      for (let n = from; n < to; n += 1) durable.putSync(fillerRow(n), FILLER);
    });
  try {
    for (let n = 0; n < WAIT; n += 1) await fill(0, 1);
    const rows = 2 * freePages(stores) + SPARE_ROWS;
    for (let from = 0; from < rows; from += ROWS_AT_ONCE) await fill(from, Math.min(rows, from + ROWS_AT_ONCE));
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
  } finally {
    while (await inTransaction(stores, () => removeSome(stores)));
  }
}

function freePages({ durable, durableCapacity }: Stores): number {
  const { lastPageNumber, pageSize } = durable.getStats() as Stats & { readonly pageSize: number };
  return Math.max(0, Math.ceil(lastPageNumber - durableCapacity.usedBytes() / pageSize));
}

/** In a transaction. False when none was left. */
function removeSome({ durable }: Stores): boolean {
  const rows = [...durable.getKeys({ ...rangeOf('~'), limit: ROWS_AT_ONCE })];
  for (const row of rows) durable.removeSync(row);
  return rows.length > 0;
}
