import { openRedisLedger } from '../../store/open.js';
import { COUNTS, type Counts } from '../../store/records/counts.js';
import type { ArchivedRows, ArchiveNote, LedgerStore } from '../../store/ledger.js';
import type { UsageStore } from '../../store/port.js';
import type { UsageRow } from '../../store/records/counts.js';
import type { Settings } from '../../config/settings.js';
import { DAY_MS, dayOf, daysFrom } from '../../../shared/utc-day.js';
import { mergeByKey } from './merge.js';
import { ArchiveUnavailable } from './errors.js';
import { lackingDays, refuseLacking } from './lacking.js';
import type { Archive } from './archive.js';

/** Deadline for asking the archive which store it belongs to. */
const ASK_MS = 2_000;
/** Days stay in the store at least this long (store.archive_after). */
const KEPT_MS = 31 * DAY_MS;

export type LedgerSettings = Pick<Settings, 'dataFolder' | 'store'>;

/** Opens the ledger for reports. Throws StoreUnavailable; reading rejects with that or ArchiveUnavailable. */
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

/** Returns a function that reads the archive's store ID: null without one. Rejects soon with ArchiveUnavailable. */
export function archivedStore({ store: { archive } }: Pick<LedgerSettings, 'store'>): () => Promise<string | null> {
  let asking: Promise<string | null> | undefined;
  const ask = async (url: string): Promise<string | null> => {
    const { storeIdIn } = await import('./archive.js');
    return storeIdIn(url, ASK_MS);
  };
  return () =>
    archive === null ? Promise.resolve(null) : (asking ??= ask(archive).finally(() => (asking = undefined)));
}

/** Opens the archive of the settings; null if there is none. Rejects with ArchiveUnavailable. */
export async function openArchive({ store: { archive } }: Pick<LedgerSettings, 'store'>): Promise<Archive | null> {
  if (archive === null) return null;
  const { openPostgresArchive } = await import('./archive.js');
  return openPostgresArchive(archive);
}

/** Reads days of keys from the archive, for an import. */
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

/** A query for store and archive. */
interface RowsQuery {
  /** UTC days, inclusive: `2026-11-21`. */
  readonly from: string;
  readonly to: string;
  readonly keyId?: string | undefined;
  /** Only of keys after this one. */
  readonly after?: string | undefined;
}

/** Where days are, at one point in time. */
interface View {
  /** Changes with each change of the archive. */
  readonly version: string;
  /** Null if none of the days can be in it. */
  readonly archive: Archive | null;
  readonly archived: readonly string[];
  /** Days whose counts in the store are on top of the archive although they are not marked. */
  readonly unmarked: ReadonlySet<string>;
}

/**
 * Reads store and archive together: keys in the order of their IDs, each key's rows together. If a day is moved
 * meanwhile, the rows since the last batch are read again from its new place.
 * Rejects with StoreUnavailable or ArchiveUnavailable.
 * @param open opens the archive, if days may have been moved to it; null if none is set
 */
export async function* ledgerRows(
  store: LedgerStore,
  open: () => Promise<Archive | null>,
  query: RowsQuery,
): AsyncGenerator<readonly UsageRow[]> {
  const days = [...daysFrom(query.from, query.to)];
  for (let after = query.after ?? null; ;) {
    const view = await viewOf(store, open, days);
    const isAsItWas = async (): Promise<boolean> =>
      ((await view.archive?.version()) ?? (await viewOf(store, open, days)).version) === view.version;
    let isWhole = true;
    for await (const rows of bothRows(store, view, days, query.keyId, after)) {
      isWhole = await isAsItWas();
      if (!isWhole) break;
      yield rows;
      after = rows.at(-1)!.key;
    }
    if (isWhole && (await isAsItWas())) return;
  }
}

/**
 * Considers the days that the store knows as moved, and all that are old enough: a restored or emptied store may not
 * know about a move.
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

/** A row of the archive or on top of it, or a whole one of a day that the archive may have too. */
interface PlacedRow extends UsageRow {
  readonly isWhole?: true;
}

/**
 * If the store has a key's whole day, its counts are used; the archive's are only a lower bound, because counts only
 * grow.
 */
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

/** Returns the archive, unless days were moved to another one: a report without those would be wrong. */
export function ownArchive(note: ArchiveNote | null, archive: Archive | null): Archive {
  if (archive !== null && (note === null || note.id === archive.id)) return archive;
  throw new ArchiveUnavailable(
    archive === null
      ? 'Days of the ledger were moved to an archive, and no archive is set here: set LEDGER_URL as where they ' +
          'were moved.'
      : 'Days of the ledger were moved to another archive than this one: set LEDGER_URL as it was. To leave an ' +
          'archive, bring its days back first: petgate usage archive restore. If it is lost, accept that: petgate ' +
          'usage archive accept.',
  );
}
