import type { UsageRow, UsageStore } from '../../port.js';
import type { Checkpoint } from '../log/checkpoint.js';
import { rowOf, storedDays } from './day-ledger.js';
import { mergeDays } from './merge-days.js';
import { packCounts } from '../log/key-entry.js';
import { AFTER_ALL, SEPARATOR, usageRow } from '../files/rows.js';
import type { Stores } from '../files/stores.js';
import { attempt } from '../files/errors.js';

/** How long reading may hold up this process's admissions at a time. */
const TURN_MS = 0.25;

/** The ledger, read in small pieces, with the event loop given back in between. */
export function usageOf(stores: Stores, checkpoint: Checkpoint): UsageStore {
  return {
    rows: (from, to, keyId, after) =>
      keyId === undefined ? allRows(stores, checkpoint, from, to, after ?? null) : keyRows(stores, keyId, from, to),
  };
}

/** Brings `durable` up to date first, and so shows every admission that any process had committed before the call. */
async function* allRows(
  stores: Stores,
  checkpoint: Checkpoint,
  from: string,
  to: string,
  after: string | null,
): AsyncGenerator<readonly UsageRow[]> {
  await checkpoint.merge();
  const days = await attempt(stores, () => {
    stores.durable.resetReadTxn();
    return storedDays(stores.durable, from, to);
  });
  yield* mergeDays(stores, days, after, breather());
}

async function* keyRows(stores: Stores, keyId: string, from: string, to: string): AsyncGenerator<readonly UsageRow[]> {
  const rows = await attempt(stores, () => {
    stores.memtable.refresh();
    return rowsOfKey(stores, keyId, from, to, storedDays(stores.durable, from, to));
  });
  if (rows.length > 0) yield rows;
}

/**
 * One key's rows of the days `from` to `to`, without waiting for the disk: what the log says, over what `durable` has
 * of the days `stored`. The log is read first, by `refresh` of the memtable: what it has given up by then stands in
 * `durable`.
 */
export function rowsOfKey(
  { memtable, durable }: Stores,
  keyId: string,
  from: string,
  to: string,
  stored: readonly string[],
): readonly UsageRow[] {
  const found = new Map<string, UsageRow>();
  for (const { label, counts, changedBy } of memtable.find(keyId)?.slots ?? []) {
    if (changedBy <= memtable.mergedTo || label.day < from || label.day > to) continue;
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
