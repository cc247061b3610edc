import type { UsageStore } from '../../port.js';
import type { UsageRow } from '../../records/counts.js';
import { mergeDays, rowOf, storedDays } from './day-ledger.js';
import { packCounts } from '../journal/entry.js';
import { AFTER_ALL, SEPARATOR, usageRow } from '../files/rows.js';
import type { Stores } from '../owner/stores.js';
import { reading } from '../files/errors.js';

/** How long reading may block this process's admissions at a time. */
const TURN_MS = 0.25;

/** Returns the ledger, which is read in small pieces so that admissions get their turn. */
export function usageOf(stores: Stores): UsageStore {
  return {
    rows: (from, to, keyId, after) =>
      keyId === undefined ? allRows(stores, from, to, after ?? null) : keyRows(stores, keyId, from, to),
  };
}

/** Folds the journal first, so that every admission decided before the call is included. */
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
 * Returns one key's rows of the days `from` to `to`, without waiting for a fold: those that only memory has, and those
 * in the file for the days `stored`.
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

/** Returns a function that gives the event loop a turn if `TURN_MS` have passed since the last one. */
function breather(): () => Promise<void> {
  let sinceMs = performance.now();
  return async () => {
    if (performance.now() - sinceMs < TURN_MS) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
    sinceMs = performance.now();
  };
}
