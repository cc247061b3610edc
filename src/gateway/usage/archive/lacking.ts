import { COUNTS, noCounts, type Counts } from '../../store/records/counts.js';
import type { ArchiveNote, LedgerStore } from '../../store/ledger.js';
import type { Archive, ArchivedDay } from './archive.js';
import { ArchiveUnavailable } from './errors.js';

/** A moved day for which the archive now has lower counts than before, or none. */
export interface LackingDay {
  readonly day: string;
  /** What is lost; null if unknown. */
  readonly lost: Counts | null;
}

/** Maximum number of days to list in a message. */
const NAMED = 5;

/** Returns noted days that the archive lacks, or has with lower counts: it was restored to an older state. */
export function lackingDays(
  noted: ArchiveNote['days'],
  archived: ReadonlyMap<string, Pick<ArchivedDay, 'counts'>>,
): readonly LackingDay[] {
  return [...noted].sort(byDay).flatMap(([day, had]): readonly LackingDay[] => {
    const has = archived.get(day)?.counts;
    if (had === null) return has === undefined ? [{ day, lost: null }] : [];
    const lost = noCounts();
    for (const count of COUNTS) lost[count] = Math.max(0, had[count] - (has?.[count] ?? 0));
    return has === undefined || COUNTS.some((count) => lost[count] > 0) ? [{ day, lost }] : [];
  });
}

/** Accepts the archive as it is. Returns the days with losses. */
export async function acceptLacking(store: LedgerStore, archive: Archive): Promise<readonly LackingDay[]> {
  const accepted = await archive.withLock(async () => {
    // LEDGER_URL may name a new archive, if the old one is lost completely.
    await archive.bind(await store.ids());
    const archived = await archive.days();
    const lacking = lackingDays((await store.archive())?.days ?? new Map(), archived);
    await store.accept(archive.id, new Map(lacking.map(({ day }) => [day, archived.get(day)?.counts ?? null])));
    return lacking;
  });
  if (accepted !== undefined) return accepted;
  throw new ArchiveUnavailable('Days are being moved to the archive: try again in a few minutes.');
}

/** Throws ArchiveUnavailable if there are any: bills without these days would be too low. */
export function refuseLacking(days: readonly LackingDay[]): void {
  if (days.length > 0) throw new ArchiveUnavailable(lackingText(days));
}

export function lackingText(days: readonly LackingDay[]): string {
  const named = days.slice(0, NAMED).map(({ day }) => day);
  const more = days.length > NAMED ? ` and ${days.length - NAMED} more days` : '';
  const [requests, units] = (['requests', 'units'] as const).map((count) =>
    days.reduce((sum, { lost }) => sum + (lost?.[count] ?? 0), 0),
  );
  return (
    `The archive lacks ${named.join(', ')}${more}, which it had (${requests} requests, ${units} units): PostgreSQL ` +
    'at LEDGER_URL was restored to an older state. Bring these days back from a newer backup, or accept that they ' +
    'are lost: petgate usage archive accept.'
  );
}

function byDay([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1;
}
