import { addCounts, COUNTS, noCounts, type Counts, type UsageRow } from '../../store/records/counts.js';
import type { LedgerStore } from '../../store/ledger.js';
import type { Archive } from './archive.js';
import { ArchiveDamaged, ArchiveUnavailable } from './errors.js';
import { mergeByKey } from './merge.js';
import { markDays } from './move.js';
import { ownArchive } from './ledger.js';

/** How long a restore pauses moves, so that an operator can set another archive before days move again. */
const PAUSE_MS = 86_400_000;

/**
 * Moves days back into the store, and verifies each there before the archive deletes it. May stop anywhere and be
 * repeated. Once the archive has no days left, the store can use another one.
 */
export async function restoreDays(
  store: LedgerStore,
  archive: Archive,
  days: readonly string[],
  onRestored: (day: string, rows: number) => void,
): Promise<void> {
  ownArchive(await store.archive(), archive);
  await archive.pause(Date.now() + PAUSE_MS);
  const done = await archive.withLock(async () => {
    await markDays(store, archive);
    for (const day of days) {
      const { rows } = await archive.verify(day);
      await store.restore(day, archive.rows([day], {}));
      if (!(await hasAll(store.day(day), archive.rows([day], {}))))
        throw new ArchiveDamaged(`The store lacks counts of ${day} after its restore: the archive keeps that day.`);
      await archive.drop(day);
      await store.unbind(day);
      onRestored(day, rows);
    }
    return true;
  });
  if (done === undefined)
    throw new ArchiveUnavailable('Days are being moved to the archive: try again in a few minutes.');
}

type Rows = AsyncIterable<readonly UsageRow[]>;

/** Whether the store has at least the counts of the archive: adds these as negative ones. */
async function hasAll(stored: Rows, archived: Rows): Promise<boolean> {
  for await (const rows of mergeByKey([stored, negative(archived)])) {
    const sums = new Map<string, Counts>();
    for (const row of rows) {
      const name = `${row.key} ${row.plan} ${row.operation}`;
      const sum = sums.get(name) ?? noCounts();
      addCounts(sum, row);
      sums.set(name, sum);
    }
    for (const sum of sums.values()) if (COUNTS.some((count) => sum[count] < 0)) return false;
  }
  return true;
}

async function* negative(all: Rows): AsyncGenerator<readonly UsageRow[]> {
  for await (const rows of all)
    yield rows.map((row) => {
      const changed = { ...row };
      for (const count of COUNTS) changed[count] = -row[count];
      return changed;
    });
}
