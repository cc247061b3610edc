import type { UsageRow } from '../../records/counts.js';
import { DayLedger } from './day-ledger.js';
import { attempt } from '../files/errors.js';
import type { Stores } from '../stores.js';

/** Minimum rows per batch, except for the last one. */
const BATCH_ROWS = 64;

/**
 * Yields the ledger's rows of these days for keys after `after`, by key, day, plan and operation. The file has them day
 * by day, so they are merged from one reader per day.
 * @param giveWay called after each page
 */
export async function* mergeDays(
  stores: Stores,
  names: readonly string[],
  after: string | null,
  giveWay: () => Promise<void>,
): AsyncGenerator<readonly UsageRow[]> {
  const fill = async (ledger: DayLedger): Promise<void> => {
    await attempt(stores, () => ledger.fill(stores.durable));
    await giveWay();
  };
  const days: DayLedger[] = [];
  for (const day of names) {
    const ledger = new DayLedger(day, after);
    await fill(ledger);
    if (ledger.nextKey !== null) days.push(ledger);
  }
  let batch: UsageRow[] = [];
  for (let key = leastKey(days); key !== null; key = leastKey(days)) {
    for (const ledger of days) {
      while (ledger.nextKey === key) {
        ledger.take(batch);
        if (ledger.drained) await fill(ledger);
      }
    }
    if (batch.length < BATCH_ROWS) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function leastKey(days: readonly DayLedger[]): string | null {
  let least: string | null = null;
  for (const { nextKey } of days) if (nextKey !== null && (least === null || nextKey < least)) least = nextKey;
  return least;
}
