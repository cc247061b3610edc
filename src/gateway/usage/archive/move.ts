import type { Counts } from '../../store/counts.js';
import type { LedgerStore } from '../../store/ledger.js';
import { DAY_MS, dayOf, daysFrom } from '../../../shared/utc-day.js';
import type { Archive } from './archive.js';
import { lackingDays, refuseLacking } from './lacking.js';
import { ownArchive } from '../ledger.js';

/** Days whose rows are looked for at once. */
const WINDOW_DAYS = 31;

export interface MoveSettings {
  /** Days that the store keeps a day at most. */
  readonly usageDays: number;
  /** Days that stay in the store. */
  readonly archiveAfterDays: number;
}

/** Told of each day that was moved, with its rows. */
type OnMoved = (day: string, rows: number) => void;

/** Days before this one are to be archived: old by the store's clock and by our own, for either may be wrong. */
export async function dueBefore(
  store: LedgerStore,
  { archiveAfterDays }: MoveSettings,
  ownMs: number,
): Promise<string> {
  const nowMs = Math.min(await store.nowMs(), ownMs);
  const { openFrom } = await store.finality(nowMs);
  const oldest = dayOf(nowMs - archiveAfterDays * DAY_MS);
  return openFrom < oldest ? openFrom : oldest;
}

/**
 * Moves what is due, day by day: written to the archive, read back, then removed from the store. It may break off
 * anywhere; what was begun is ended the next time. False when another process is at it, or it is paused.
 * Rejects with StoreUnavailable, ArchiveUnavailable or ArchiveDamaged.
 */
export async function moveDays(
  store: LedgerStore,
  archive: Archive,
  settings: MoveSettings,
  onMoved: OnMoved,
  ownMs = Date.now(),
): Promise<boolean> {
  if ((await archive.pausedUntilMs()) > Date.now()) return false;
  const done = await archive.withLock(async () => {
    ownArchive(await store.archive(), archive);
    await archive.bind(await store.ids());
    await markDays(store, archive);
    const before = await dueBefore(store, settings, ownMs);
    for await (const day of waitingDays(store, before, settings.usageDays))
      onMoved(day, await moveDay(store, archive, day));
    return true;
  });
  return done ?? false;
}

/** Gives how many rows the archive has of the day afterwards. */
async function moveDay(store: LedgerStore, archive: Archive, day: string): Promise<number> {
  await archive.put(day, store.day(day));
  const { rows, totals } = await archive.verify(day);
  // Before the store lets go of anything: from then on no report of it does without this archive.
  await store.bind(archive.id, new Map([[day, totals]]));
  ownArchive(await store.archive(), archive);
  await store.remove(day, archive.rows([day], {}));
  return rows;
}

/** Marks, key by key, what version 0.3 moved. Rejects with ArchiveUnavailable where the archive lacks a day. */
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
  // A store that was emptied, or restored to an older state, learns what there is.
  const unknown = [...archived].filter(([day]) => !noted.has(day));
  if (unknown.length > 0) await store.bind(archive.id, new Map(unknown.map(([day, { counts }]) => [day, counts])));
}

/** Version 0.3 named a day before it wrote it, and may have died in between. */
async function isWhole(store: LedgerStore, day: string): Promise<boolean> {
  for await (const rows of store.day(day)) if (rows.length > 0) return true;
  return false;
}

/** Days before `before` of which the store has something whole, oldest first. */
export async function* waitingDays(store: LedgerStore, before: string, usageDays: number): AsyncGenerator<string> {
  const lastMs = Date.parse(before) - DAY_MS;
  // The store forgets a day some time after that, not at once.
  for (let fromMs = lastMs - (usageDays + 2) * DAY_MS; fromMs <= lastMs; fromMs += WINDOW_DAYS * DAY_MS) {
    const to = dayOf(Math.min(fromMs + (WINDOW_DAYS - 1) * DAY_MS, lastMs));
    const found = new Set<string>();
    for await (const rows of store.rows([...daysFrom(dayOf(fromMs), to)], { archived: 'left out' }))
      for (const { day, isOnTop } of rows) if (isOnTop !== true) found.add(day);
    yield* [...found].sort();
  }
}
