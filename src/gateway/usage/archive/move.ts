import type { Settings } from '../../config/schema/gateway.js';
import type { Counts } from '../../store/records/counts.js';
import type { LedgerStore } from '../../store/ledger.js';
import { DAY_MS, dayOf, daysFrom } from '../../../shared/utc-day.js';
import type { Archive } from './archive.js';
import { lackingDays, refuseLacking } from './lacking.js';
import { ownArchive } from './ledger.js';

/** Days to read at a time. */
const WINDOW_DAYS = 31;

export type MoveSettings = Pick<Settings['store'], 'usage' | 'archive_after'>;

/** Returns the day before which days are due: final, and old by the store's clock and ours, as either may be wrong. */
export async function dueBefore(
  store: LedgerStore,
  { archive_after: afterDays }: MoveSettings,
  ownMs: number,
): Promise<string> {
  const nowMs = Math.min(await store.nowMs(), ownMs);
  const { openFrom } = await store.finality(nowMs);
  const oldest = dayOf(nowMs - afterDays * DAY_MS);
  return openFrom < oldest ? openFrom : oldest;
}

/**
 * Moves due days one by one: writes each to the archive, reads it back, then removes it from the store. May stop
 * anywhere; the next run completes it. Returns false if another process is moving days, or moves are paused.
 * Rejects with StoreUnavailable, ArchiveUnavailable or ArchiveDamaged.
 */
export async function moveDays(
  store: LedgerStore,
  archive: Archive,
  settings: MoveSettings,
  onMoved: (day: string, rows: number) => void,
  ownMs = Date.now(),
): Promise<boolean> {
  if ((await archive.pausedUntilMs()) > Date.now()) return false;
  const done = await archive.withLock(async () => {
    ownArchive(await store.archive(), archive);
    await archive.bind(await store.ids());
    await markDays(store, archive);
    const before = await dueBefore(store, settings, ownMs);
    for await (const day of waitingDays(store, before, settings.usage))
      onMoved(day, await moveDay(store, archive, day));
    return true;
  });
  return done ?? false;
}

/** Returns the number of rows that the archive then has of the day. */
async function moveDay(store: LedgerStore, archive: Archive, day: string): Promise<number> {
  await archive.put(day, store.day(day));
  const { rows, totals } = await archive.verify(day);
  // Bind before removing anything: from then on, reports need this archive.
  await store.bind(archive.id, new Map([[day, totals]]));
  ownArchive(await store.archive(), archive);
  await store.remove(day, archive.rows([day], {}));
  return rows;
}

/** Marks, by key, what version 0.3 moved; notes unknown days. Rejects with ArchiveUnavailable if a day is lacking. */
export async function markDays(store: LedgerStore, archive: Archive): Promise<void> {
  const archived = await archive.days();
  for (const [day, has] of (await store.archive())?.days ?? []) {
    const there = archived.get(day);
    if (has !== null) continue;
    if (there !== undefined) {
      await store.mark(day, archive.rows([day], {}), there.isUnmarked);
      await store.bind(archive.id, new Map([[day, there.counts]]));
    } else if (await isWhole(store, day)) await store.unbind(day);
  }
  const noted = (await store.archive())?.days ?? new Map<string, Counts>();
  refuseLacking(lackingDays(noted, archived));
  // An emptied or restored store does not know what the archive has.
  const unknown = [...archived].filter(([day]) => !noted.has(day));
  if (unknown.length > 0) await store.bind(archive.id, new Map(unknown.map(([day, { counts }]) => [day, counts])));
}

/** Whether the store has a day whole. Version 0.3 noted a day before writing it, and may have died in between. */
async function isWhole(store: LedgerStore, day: string): Promise<boolean> {
  for await (const rows of store.day(day)) if (rows.length > 0) return true;
  return false;
}

/** Yields the days before `before` that have whole rows in the store, oldest first. */
export async function* waitingDays(store: LedgerStore, before: string, usageDays: number): AsyncGenerator<string> {
  const lastMs = Date.parse(before) - DAY_MS;
  // Two days more, because the store deletes expired days late.
  for (let fromMs = lastMs - (usageDays + 2) * DAY_MS; fromMs <= lastMs; fromMs += WINDOW_DAYS * DAY_MS) {
    const to = dayOf(Math.min(fromMs + (WINDOW_DAYS - 1) * DAY_MS, lastMs));
    const found = new Set<string>();
    for await (const rows of store.rows([...daysFrom(dayOf(fromMs), to)], { archived: 'left out' }))
      for (const { day, isOnTop } of rows) if (isOnTop !== true) found.add(day);
    yield* [...found].sort();
  }
}
