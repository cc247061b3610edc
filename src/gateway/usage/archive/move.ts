import type { LedgerStore } from '../../store/ledger.js';
import { DAY_MS, dayOf, daysFrom } from '../../../shared/utc-day.js';
import type { Archive, DayState } from './archive.js';
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
    const before = await dueBefore(store, settings, ownMs);
    for (const [day, state] of await archive.days()) if (state === 'held') await endMove(store, archive, day, onMoved);
    for await (const day of waitingDays(store, archive, before, settings.usageDays)) {
      // Before the day is there: from then on no report of it does without this archive.
      await store.bind(archive.id, [...(await archive.days()).keys(), day]);
      ownArchive(await store.archive(), archive);
      await archive.add(day, store.day(day));
      await endMove(store, archive, day, onMoved);
    }
    return true;
  });
  return done ?? false;
}

/** The archive has the day, for good: the store need not. */
async function endMove(store: LedgerStore, archive: Archive, day: string, onMoved: OnMoved): Promise<void> {
  const { rows } = await archive.verify(day);
  await store.remove(day, archive.rows([day], {}));
  await archive.setState(day, 'moved');
  // From here on all that the store has comes on top, marked or not.
  await store.unmark(day, archive.rows([day], {}));
  onMoved(day, rows);
}

/** Days before `before` of which the store has rows and the archive none, oldest first. */
export async function* waitingDays(
  store: LedgerStore,
  archive: Archive,
  before: string,
  usageDays: number,
): AsyncGenerator<string> {
  const archived: ReadonlyMap<string, DayState> = await archive.days();
  const lastMs = Date.parse(before) - DAY_MS;
  // The store forgets a day some time after that, not at once.
  for (let fromMs = lastMs - (usageDays + 2) * DAY_MS; fromMs <= lastMs; fromMs += WINDOW_DAYS * DAY_MS) {
    const to = dayOf(Math.min(fromMs + (WINDOW_DAYS - 1) * DAY_MS, lastMs));
    const days = [...daysFrom(dayOf(fromMs), to)].filter((day) => !archived.has(day));
    const found = new Set<string>();
    for await (const rows of store.rows(days, {})) for (const { day } of rows) found.add(day);
    yield* [...found].sort();
  }
}
