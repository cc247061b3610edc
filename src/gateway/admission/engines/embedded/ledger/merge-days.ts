import type { UsageRow } from '../../../port.js';
import { DayLedger } from './day-ledger.js';
import type { Store } from '../files/store.js';

/** Rows given at once. */
const BATCH_ROWS = 64;

/** Where a merge reads, and what it does between two small pieces of work. */
interface MergeSource {
  readonly store: () => Store;
  /** Runs store work; turns what it throws into StoreUnavailable. */
  readonly attempt: (work: () => void) => Promise<void>;
  /** Called after each page with how many rows were read so far. */
  readonly between: (rowsRead: number) => Promise<void>;
}

/**
 * The ledger's rows of these days, of keys behind `after`, key by key, within a key by day, plan and operation.
 * They stand day by day in the file, so that they are merged from one reader per day.
 */
export async function* mergeDays(
  source: MergeSource,
  names: Iterable<string>,
  after: string | null = null,
): AsyncGenerator<readonly UsageRow[]> {
  let rowsRead = 0;
  const fill = async (ledger: DayLedger): Promise<void> => {
    await source.attempt(() => {
      rowsRead += ledger.fill(source.store());
    });
    await source.between(rowsRead);
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
