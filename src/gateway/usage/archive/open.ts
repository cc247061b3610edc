import { openRedisLedger } from '../../store/open.js';
import type { ArchivedLedger, LedgerStore } from '../../store/ledger.js';
import type { UsageRow } from '../../store/port.js';
import type { Settings } from '../../config/settings.js';
import { ArchiveUnavailable } from './errors.js';
import type { Archive } from './port.js';
import { ledgerRows } from './rows.js';
import type { Asked } from './rows.js';

export type ArchiveSettings = Pick<Settings, 'dataFolder' | 'store'>;

/** The ledger as reports read it, store and archive as one. */
interface WholeLedger extends Pick<LedgerStore, 'customers' | 'close'> {
  rows(asked: Asked): AsyncIterable<readonly UsageRow[]>;
}

/** Throws StoreUnavailable; reading rejects with that or ArchiveUnavailable. */
export function openLedger(settings: ArchiveSettings): WholeLedger {
  const store = openRedisLedger(settings);
  let opened: Promise<Archive | null> | undefined;
  return {
    rows: (asked) => ledgerRows(store, () => (opened ??= openArchive(settings)), asked),
    customers: store.customers,
    close: async () => {
      await Promise.all([store.close(), (await opened)?.close()]);
    },
  };
}

/** The two that days move between. Rejects with ArchiveUnavailable. */
export async function openBoth(
  settings: ArchiveSettings,
): Promise<{ readonly store: ArchivedLedger; readonly archive: Archive }> {
  const archive = await openArchive(settings);
  if (archive === null) throw new ArchiveUnavailable('There is no archive: set LEDGER_URL.');
  return { store: openRedisLedger(settings), archive };
}

/** The archive that the settings name; null where there is none. Rejects with ArchiveUnavailable. */
export async function openArchive({ store: { archive } }: Pick<ArchiveSettings, 'store'>): Promise<Archive | null> {
  if (archive === null) return null;
  const { openPostgresArchive } = await import('./postgres/postgres.js');
  return openPostgresArchive(archive);
}
