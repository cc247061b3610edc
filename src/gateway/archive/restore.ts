import type { ArchivedLedger } from '../admission/ledger-store.js';
import type { UsageRow } from '../admission/port.js';
import type { Archive } from './port.js';
import { ArchiveDamaged, ArchiveUnavailable } from './errors.js';
import { headOf, lineOf, Sealer } from './seal.js';
import { requireOwnArchive } from './rows.js';

/** How long nothing is moved after days were brought back: until then the settings should name another archive. */
const PAUSE_MS = 86_400_000;

/**
 * Brings days back into the store, each checked there before the archive forgets it. May break off anywhere, and be
 * repeated. When the archive has no day left the store is free for another one.
 */
export async function restoreDays(
  store: ArchivedLedger,
  archive: Archive,
  days: readonly string[],
  onRestored: (day: string, rows: number) => void,
): Promise<void> {
  await requireOwnArchive(store, archive);
  await archive.pause(Date.now() + PAUSE_MS);
  const done = await archive.alone(async () => {
    for (const day of days) {
      const { rows, totals } = await archive.verify(day);
      // Now the store may have rows of the day, and the archive still decides.
      await archive.setState(day, 'held');
      await store.restore(day, archive.rows([day], {}));
      const back = await sealOf(day, store.day(day));
      if (back.rows !== rows || JSON.stringify(back.totals) !== JSON.stringify(totals))
        throw new ArchiveDamaged(`What came back of ${day} is not what the archive has: the day stays in the archive.`);
      await archive.drop(day);
      onRestored(day, rows);
    }
    if ((await archive.days()).size === 0) await store.unbind();
    return true;
  });
  if (done === undefined)
    throw new ArchiveUnavailable('Days are being moved to the archive just now: try again in a few minutes.');
}

async function sealOf(day: string, all: AsyncIterable<readonly UsageRow[]>) {
  const sealer = new Sealer(headOf(day));
  for await (const rows of all) for (const row of rows) sealer.add(row, lineOf(row));
  return sealer.seal();
}
