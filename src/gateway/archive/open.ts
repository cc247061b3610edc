import { join } from 'node:path';
import type { Settings } from '../config/settings.js';
import { openFileArchive } from './files/files.js';
import type { Archive } from './port.js';

export type ArchiveSettings = Pick<Settings, 'dataFolder' | 'store'>;

/** The archive that the settings name; null where there is none. Rejects with ArchiveUnavailable. */
export async function openArchive({ dataFolder, store: { archive } }: ArchiveSettings): Promise<Archive | null> {
  if (archive === null) return null;
  if (archive === 'files') return openFileArchive(join(dataFolder, 'ledger'));
  const { openPostgresArchive } = await import('./postgres/postgres.js');
  return openPostgresArchive(archive);
}
