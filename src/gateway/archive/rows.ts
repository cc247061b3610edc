import type { ArchivedLedger } from '../admission/ledger-store.js';
import type { UsageRow } from '../admission/port.js';
import { mergeByKey } from './merge.js';
import { ArchiveUnavailable } from './errors.js';
import type { Archive, DayState } from './port.js';

/** What is asked of store and archive together. */
export interface Asked {
  /** UTC days, both included: `2026-11-21`. */
  readonly from: string;
  readonly to: string;
  readonly keyId?: string | undefined;
  /** Only of keys behind this one. */
  readonly after?: string | undefined;
}

/**
 * Store and archive as one: keys in the order of their ids, all of a key together, archived days first. A day may be
 * moved while this reads: then the rows read since the last batch are read anew, from where the day is by then.
 * Rejects with StoreUnavailable or ArchiveUnavailable.
 */
export async function* ledgerRows(
  store: ArchivedLedger,
  archive: Archive | null,
  asked: Asked,
): AsyncGenerator<readonly UsageRow[]> {
  await requireOwnArchive(store, archive);
  if (archive === null) {
    const { from, to, keyId, after } = asked;
    yield* store.rows(from, to, { keyId, after: after ?? null, archived: new Map() });
    return;
  }
  for (let after = asked.after ?? null; ;) {
    const version = await archive.version();
    const archived = await daysOf(archive, asked);
    let isWhole = true;
    for await (const rows of bothRows(store, archive, archived, asked, after)) {
      if ((await archive.version()) !== version) {
        isWhole = false;
        break;
      }
      yield rows;
      after = rows.at(-1)!.key;
    }
    if (isWhole && (await archive.version()) === version) return;
  }
}

function bothRows(
  store: ArchivedLedger,
  archive: Archive,
  archived: ReadonlyMap<string, DayState>,
  { from, to, keyId }: Asked,
  after: string | null,
): AsyncIterable<readonly UsageRow[]> {
  return mergeByKey([
    archive.rows([...archived.keys()], { keyId, after }),
    store.rows(from, to, { keyId, after, archived }),
  ]);
}

async function daysOf(archive: Archive, { from, to }: Asked): Promise<ReadonlyMap<string, DayState>> {
  return new Map([...(await archive.days())].filter(([day]) => day >= from && day <= to));
}

/** A report without the days that another archive has would be wrong. */
export async function requireOwnArchive(store: ArchivedLedger, archive: Archive | null): Promise<void> {
  const bound = await store.archiveId();
  if (bound !== null && bound !== archive?.id)
    throw new ArchiveUnavailable(
      archive === null
        ? 'Days of the ledger were moved to an archive, and no archive is set here: set LEDGER_URL as where they were moved.'
        : `Days of the ledger were moved to another archive than this one: set LEDGER_URL as it was. To leave an archive, bring its days back first: petgate usage archive restore.`,
    );
}
