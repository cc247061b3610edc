import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Store } from './database.js';

/** Rows counted before the event loop gets a turn. */
const COUNTED_AT_ONCE = 4_000;

/** Counts the rows in a range; those added or removed meanwhile may be counted or not. */
export async function countRows(store: Store, { start, end }: { start: string; end: string }): Promise<number> {
  let [count, seen, last] = [0, 0, start];
  do {
    store.resetReadTxn();
    seen = 0;
    for (const name of store.getKeys({ start: last, end, limit: COUNTED_AT_ONCE, exclusiveStart: count > 0 })) {
      last = name;
      seen += 1;
    }
    count += seen;
    await nextTurn();
  } while (seen === COUNTED_AT_ONCE);
  return count;
}
