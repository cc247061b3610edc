import { StoreUnavailable } from '../../../port.js';
import { inTransaction } from './errors.js';
import { fillerRow, rangeOf } from './rows.js';
import type { Store } from './store.js';
import type { Stores } from './stores.js';

/**
 * In a transaction: puts JSON in place of a row, with spaces up to its length. A shorter row would leave the beginning of
 * the old one in the gap of its page; one of the same length is written over it.
 */
export function overwrite(durable: Store, row: string, json: string): void {
  const bytes = Buffer.from(json);
  const missing = (durable.getBinaryFast(row)?.length ?? 0) - bytes.length;
  durable.putSync(row, missing > 0 ? Buffer.concat([bytes, Buffer.alloc(missing, ' ')]) : bytes);
}

/** In a transaction: `overwrite` of a row that goes. */
export function overwriteAndRemove(durable: Store, row: string): void {
  if (durable.getBinaryFast(row) === undefined) return;
  overwrite(durable, row, '');
  durable.removeSync(row);
}

/** So large that lmdb, which splits a full page in halves, has a page for each. */
const FILLER = Buffer.alloc(1_900);
const ROWS_AT_ONCE = 1_000;
/** For pages that come free meanwhile. */
const SPARE_ROWS = 100;
/** A page is used again only when two more transactions have ended since it came free. */
const WAIT = 3;
/** Somebody waits for it: of a large file with many free pages only so much is written over. */
const MOST_MS = 8_000;

interface Stats {
  readonly lastPageNumber: number;
}

/**
 * Writes over the free pages of `durable`, for they hold what was replaced or removed until lmdb uses them again. As
 * far as the store has room and time: it says nothing when that is less.
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
    const rows = freePages(stores) + SPARE_ROWS;
    const endMs = performance.now() + MOST_MS;
    for (let from = 0; from < rows && performance.now() < endMs; from += ROWS_AT_ONCE)
      await fill(from, Math.min(rows, from + ROWS_AT_ONCE));
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
