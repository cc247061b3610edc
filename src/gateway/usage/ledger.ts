import { openRedisLedger } from '../store/open.js';
import type { ArchiveNote, LedgerStore, StoredRow } from '../store/ledger.js';
import type { UsageRow, UsageStore } from '../store/port.js';
import type { Settings } from '../config/settings.js';
import { daysFrom } from '../../shared/utc-day.js';
import { mergeByKey } from './archive/merge.js';
import { ArchiveUnavailable } from './archive/errors.js';
import type { Archive, DayState } from './archive/archive.js';

/** How long the archive may take to say which store it is of. */
const ASK_MS = 2_000;

export type LedgerSettings = Pick<Settings, 'dataFolder' | 'store'>;

/** The ledger as reports read it. Throws StoreUnavailable; reading rejects with that or ArchiveUnavailable. */
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

/** Which store the archive is of: null without an archive, or while it has none. Rejects soon: ArchiveUnavailable. */
export function archivedStore({ store: { archive } }: Pick<LedgerSettings, 'store'>): () => Promise<string | null> {
  let asking: Promise<string | null> | undefined;
  const ask = async (url: string): Promise<string | null> => {
    const { storeIdIn } = await import('./archive/archive.js');
    return storeIdIn(url, ASK_MS);
  };
  return () =>
    archive === null ? Promise.resolve(null) : (asking ??= ask(archive).finally(() => (asking = undefined)));
}

/** The archive that the settings name; null where there is none. Rejects with ArchiveUnavailable. */
export async function openArchive({ store: { archive } }: Pick<LedgerSettings, 'store'>): Promise<Archive | null> {
  if (archive === null) return null;
  const { openPostgresArchive } = await import('./archive/archive.js');
  return openPostgresArchive(archive);
}

/** What is asked of store and archive together. */
interface RowsQuery {
  /** UTC days, both included: `2026-11-21`. */
  readonly from: string;
  readonly to: string;
  readonly keyId?: string | undefined;
  /** Only of keys behind this one. */
  readonly after?: string | undefined;
}

/** What stands where, at some moment. */
interface View {
  /** Another one after each change of it. */
  readonly version: string;
  /** Where none of the days asked for was ever moved, null. */
  readonly archive: Archive | null;
  readonly archived: ReadonlyMap<string, DayState>;
}

/**
 * Store and archive as one: keys in the order of their ids, all of a key together. A day may be moved while this
 * reads: then the rows read since the last batch are read anew, from where the day is by then.
 * Rejects with StoreUnavailable or ArchiveUnavailable.
 * @param open the archive, asked for only where days were moved to it; null where none is set
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

async function viewOf(store: LedgerStore, open: () => Promise<Archive | null>, days: readonly string[]): Promise<View> {
  const note = await store.archive();
  if (note === null || (note.days.size > 0 && !days.some((day) => note.days.has(day))))
    return { version: 'the store alone', archive: null, archived: new Map() };
  const archive = ownArchive(note, await open());
  const version = await archive.version();
  const states = await archive.days();
  return { version, archive, archived: new Map([...states].filter(([day]) => days.includes(day))) };
}

async function* bothRows(
  store: LedgerStore,
  { archive, archived }: View,
  days: readonly string[],
  keyId: string | undefined,
  after: string | null,
): AsyncGenerator<readonly UsageRow[]> {
  const held = new Set([...archived].flatMap(([day, state]) => (state === 'held' ? [day] : [])));
  const sources: AsyncIterable<readonly StoredRow[]>[] = [store.rows(days, { keyId, after, held })];
  if (archive !== null) sources.unshift(archive.rows([...archived.keys()], { keyId, after }));
  for await (const rows of mergeByKey(sources)) yield withoutTwins(rows);
}

/** Where the store's rows have what the archive has of a key and day, the archive's go. */
function withoutTwins(rows: readonly StoredRow[]): readonly UsageRow[] {
  const whole = new Set(rows.flatMap((row) => (row.isWhole === true ? [`${row.key} ${row.day}`] : [])));
  if (whole.size === 0) return rows;
  return rows.flatMap(({ isWhole, ...row }) => (isWhole === true || !whole.has(`${row.key} ${row.day}`) ? [row] : []));
}

/** The archive, unless days were moved to another one: a report without those would be wrong. */
export function ownArchive(note: ArchiveNote | null, archive: Archive | null): Archive {
  if (archive !== null && (note === null || note.id === archive.id)) return archive;
  throw new ArchiveUnavailable(
    archive === null
      ? 'Days of the ledger were moved to an archive, and no archive is set here: set LEDGER_URL as where they ' +
          'were moved.'
      : 'Days of the ledger were moved to another archive than this one: set LEDGER_URL as it was. To leave an ' +
          'archive, bring its days back first: petgate usage archive restore.',
  );
}
