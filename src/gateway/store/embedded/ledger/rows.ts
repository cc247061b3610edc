import type { UsageStore } from '../../port.js';
import type { UsageRow } from '../../records/counts.js';
import { rowOf, storedDays } from './day-ledger.js';
import { mergeDays } from './merge-days.js';
import { packCounts } from '../journal/entry.js';
import { AFTER_ALL, SEPARATOR, usageRow } from '../files/rows.js';
import type { Stores } from '../stores.js';
import { reading } from '../files/errors.js';

/** How long reading may hold up this process's admissions at a time. */
const TURN_MS = 0.25;

/** The ledger, read in small pieces, with the event loop given back in between. */
export function usageOf(stores: Stores): UsageStore {
  return {
    rows: (from, to, keyId, after) =>
      keyId === undefined ? allRows(stores, from, to, after ?? null) : keyRows(stores, keyId, from, to),
  };
}

/** Folds the journal first, and so shows every admission that was decided before the call. */
async function* allRows(
  stores: Stores,
  from: string,
  to: string,
  after: string | null,
): AsyncGenerator<readonly UsageRow[]> {
  await stores.fold.run();
  const days = await reading(stores, (durable) => storedDays(durable, from, to));
  yield* mergeDays(stores, days, after, breather());
}

async function* keyRows(stores: Stores, keyId: string, from: string, to: string): AsyncGenerator<readonly UsageRow[]> {
  const rows = await reading(stores, (durable) => rowsOfKey(stores, keyId, from, to, storedDays(durable, from, to)));
  if (rows.length > 0) yield rows;
}

/**
 * One key's rows of the days `from` to `to`, without waiting for the disk: what memory alone knows, over what the file
 * has of the days `stored`.
 */
export function rowsOfKey(
  { memory, durable }: Stores,
  keyId: string,
  from: string,
  to: string,
  stored: readonly string[],
): readonly UsageRow[] {
  const found = new Map<string, UsageRow>();
  for (const { label, counts, changedBy } of memory.find('s', keyId)?.slots ?? []) {
    if (changedBy <= memory.foldedTo || label.day < from || label.day > to) continue;
    const name = usageRow(keyId, label.text);
    found.set(name, rowOf(name, packCounts(counts)));
  }
  for (const day of stored) {
    const start = `u${day}${SEPARATOR}${keyId}${SEPARATOR}`;
    for (const { key, value } of durable.getRange({ start, end: start + AFTER_ALL }))
      if (!found.has(key)) found.set(key, rowOf(key, value));
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}

/** Gives the event loop back once `TURN_MS` were used since the last time. */
function breather(): () => Promise<void> {
  let sinceMs = performance.now();
  return async () => {
    if (performance.now() - sinceMs < TURN_MS) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
    sinceMs = performance.now();
  };
}
