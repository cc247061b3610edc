import { openRedisLedger } from '../../config/open-store.js';
import { COUNTS, type Counts, type UsageRow } from '../../store/records/counts.js';
import type { ArchivedRows, ArchiveNote, LedgerStore } from '../../store/ledger.js';
import type { UsageStore } from '../../store/port.js';
import type { Settings } from '../../config/schema/gateway.js';
import { DAY_MS, dayOf, daysFrom } from '../../../shared/utc-day.js';
import { mergeByKey } from './merge.js';
import { ArchiveUnavailable } from './errors.js';
import { lackingDays, refuseLacking } from './lacking.js';
import type { Archive } from './archive.js';

/** Deadline for reading the archive's store ID. */
const ASK_MS = 2_000;
/** Days stay in the store at least this long (store.archive_after). */
const KEPT_MS = 31 * DAY_MS;

export type LedgerSettings = Pick<Settings, 'data' | 'store'>;

/** Opens the ledger for reports. Reading rejects with StoreUnavailable or ArchiveUnavailable. */
export function openLedger(settings: LedgerSettings): UsageStore & Pick<LedgerStore, 'accounts' | 'close'> {
  const store = openRedisLedger(settings, archivedStore(settings));
  let opened: Promise<Archive | null> | undefined;
  const archive = (): Promise<Archive | null> => (opened ??= openArchive(settings));
  return {
    rows: (from, to, keyId, after) => ledgerRows(store, archive, { from, to, keyId, after }),
    accounts: store.accounts,
    close: async () => {
      await Promise.all([store.close(), (await opened)?.close()]);
    },
  };
}

/** Returns a function that reads the archive's store ID; null without one. It rejects with ArchiveUnavailable. */
export function archivedStore({ store: { archive } }: Pick<LedgerSettings, 'store'>): () => Promise<string | null> {
  let asking: Promise<string | null> | undefined;
  const ask = async (url: string): Promise<string | null> => {
    const { storeIdIn } = await import('./archive.js');
    return storeIdIn(url, ASK_MS);
  };
  return () =>
    typeof archive !== 'string' ? Promise.resolve(null) : (asking ??= ask(archive).finally(() => (asking = undefined)));
}

/** Opens the archive in the settings; null if none is set. Rejects with ArchiveUnavailable. */
export async function openArchive({ store: { archive } }: Pick<LedgerSettings, 'store'>): Promise<Archive | null> {
  if (typeof archive !== 'string') return null;
  const { openPostgresArchive } = await import('./archive.js');
  return openPostgresArchive(archive);
}

/** Returns a function that reads the rows of keys and days from the archive, for an import. */
export function archivedRows(settings: Pick<LedgerSettings, 'store'>): ArchivedRows {
  return async (note, wanted) => {
    const opened = await openArchive(settings);
    try {
      const archive = ownArchive(note, opened);
      const days = new Set(wanted.map(({ day }) => day));
      const noted = new Map([...(note?.days ?? [])].filter(([day]) => days.has(day)));
      refuseLacking(lackingDays(noted, await archive.days()));
      return await archive.rowsOf(wanted);
    } finally {
      await opened?.close();
    }
  };
}

interface RowsQuery {
  /** UTC days, inclusive: `2026-11-21`. */
  readonly from: string;
  readonly to: string;
  readonly keyId?: string | undefined;
  /** Only keys after this one. */
  readonly after?: string | undefined;
}

/** Where the days of a query are, at one moment. */
interface View {
  /** The archive's version when this view was made. */
  readonly version: string;
  /** Null if none of the days can be archived. */
  readonly archive: Archive | null;
  readonly archived: readonly string[];
  /** Days moved by version 0.3: counts in the store add to the archive's, although no mark says so. */
  readonly unmarked: ReadonlySet<string>;
}

/**
 * Yields the rows of store and archive together, keys in the order of their IDs. If a day moves meanwhile, reads the
 * rows after the last batch again.
 * Rejects with StoreUnavailable or ArchiveUnavailable.
 * @param open called only if days may be archived; resolves to null if no archive is set
 */
export async function* ledgerRows(
  store: LedgerStore,
  open: () => Promise<Archive | null>,
  query: RowsQuery,
): AsyncGenerator<readonly UsageRow[]> {
  const days = [...daysFrom(query.from, query.to)];
  for (let after = query.after ?? null; ;) {
    const view = await viewOf(store, open, days);
    const isUnchanged = async (): Promise<boolean> =>
      ((await view.archive?.version()) ?? (await viewOf(store, open, days)).version) === view.version;
    let isComplete = true;
    for await (const rows of bothRows(store, view, days, query.keyId, after)) {
      isComplete = await isUnchanged();
      if (!isComplete) break;
      yield rows;
      after = rows.at(-1)!.key;
    }
    if (isComplete && (await isUnchanged())) return;
  }
}

/**
 * Opens the archive if the store noted one of the days as moved, or a day is old enough: a restored or emptied store
 * does not know of every move.
 */
async function viewOf(store: LedgerStore, open: () => Promise<Archive | null>, days: readonly string[]): Promise<View> {
  const note = await store.archive();
  const noted = new Map([...(note?.days ?? [])].filter(([day]) => days.includes(day)));
  const isOld = days.some((day) => day < dayOf(Date.now() - KEPT_MS));
  const isNoted = noted.size > 0 || (isOld && note?.days.size === 0);
  const opened = isNoted || isOld ? await open() : null;
  if (opened === null && !isNoted)
    return { version: 'the store alone', archive: null, archived: [], unmarked: new Set() };
  const archive = ownArchive(note, opened);
  if (note === null) await archive.isOf(await store.ids());
  const version = await archive.version();
  const archived = await archive.days();
  refuseLacking(lackingDays(noted, archived));
  return {
    ...{ version, archive, archived: days.filter((day) => archived.has(day)) },
    unmarked: new Set([...noted].flatMap(([day, has]) => (has === null && archived.get(day)!.isUnmarked ? [day] : []))),
  };
}

async function* bothRows(
  store: LedgerStore,
  { archive, archived, unmarked }: View,
  days: readonly string[],
  keyId: string | undefined,
  after: string | null,
): AsyncGenerator<readonly UsageRow[]> {
  const stored = store.rows(days, { keyId, after });
  if (archive === null || archived.length === 0) {
    yield* mergeByKey([stored]);
    return;
  }
  const there = new Set(archived);
  const rows = async function* (): AsyncGenerator<readonly PlacedRow[]> {
    for await (const some of stored)
      yield some.map(({ isOnTop, ...row }) =>
        isOnTop === true || unmarked.has(row.day) || !there.has(row.day) ? row : { ...row, isWhole: true },
      );
  };
  for await (const both of mergeByKey<PlacedRow>([archive.rows(archived, { keyId, after }), rows()]))
    yield dropDuplicates(both);
}

/** A row of the archive, or of the store: `isWhole` if it has all counts, although the archive may have the day too. */
interface PlacedRow extends UsageRow {
  readonly isWhole?: true;
}

/** Takes the higher of each count for rows that both the archive and the store have whole: counts only grow. */
function dropDuplicates(rows: readonly PlacedRow[]): readonly UsageRow[] {
  const wholeDays = new Set<string>();
  const whole = new Map<string, Omit<UsageRow, keyof Counts> & Counts>();
  for (const { isWhole, ...row } of rows) {
    if (isWhole !== true) continue;
    wholeDays.add(`${row.key} ${row.day}`);
    whole.set(nameOf(row), row);
  }
  if (whole.size === 0) return rows;
  return rows.flatMap((row) => {
    if (row.isWhole === true) return [whole.get(nameOf(row))!];
    if (!wholeDays.has(`${row.key} ${row.day}`)) return [row];
    const twin = whole.get(nameOf(row));
    if (twin === undefined) return [row];
    for (const count of COUNTS) twin[count] = Math.max(twin[count], row[count]);
    return [];
  });
}

function nameOf({ key, day, plan, operation }: UsageRow): string {
  return [key, day, plan, operation].join(' ');
}

/** Returns the archive. Throws ArchiveUnavailable if days were moved to another one: reports would lack them. */
export function ownArchive(note: ArchiveNote | null, archive: Archive | null): Archive {
  if (archive !== null && (note === null || note.id === archive.id)) return archive;
  throw new ArchiveUnavailable(
    archive === null
      ? 'Days of the ledger were moved to an archive, but none is configured: set LEDGER_URL to that archive.'
      : 'Days of the ledger were moved to another archive: set LEDGER_URL back to it. To change archives, restore ' +
          'its days first: petgate usage archive restore. If it is lost, accept that: petgate usage archive accept.',
  );
}
