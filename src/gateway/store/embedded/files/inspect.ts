import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { lmdbFileState } from '../../../../shared/files/lmdb-file.js';
import { StoreUnavailable } from '../../../admission/port.js';

/** What an operator can do if the file is lost, by kind of folder. */
const ADVICE = {
  store:
    'It holds keys, customers, their history and the ledger. Stop the gateway, keep a copy of the folder, and put a ' +
    'backup of the whole folder in its place; or move the folder away, start, and run "petgate store import" with ' +
    'your last export',
  outage:
    'It holds copies of keys, and counts that Redis may lack; Redis has everything else. Keep a copy of the ' +
    'folder and move it away, then start',
};

/**
 * Checks the file before lmdb maps it: a damaged one would end the process without a message. Throws StoreUnavailable
 * if it is damaged, or if it is empty or missing next to a journal or to the second file of 0.4.
 */
export function inspectFiles(folder: string): void {
  const advice = ADVICE[basename(folder) === 'failover' ? 'outage' : 'store'];
  const [file, state] = [join(folder, 'durable.mdb'), lmdbFileState(join(folder, 'durable.mdb'))];
  if (state !== undefined && state.damage !== null)
    throw new StoreUnavailable(`${file} is damaged: ${state.damage}. It was not opened. ${advice}.`);
  if ((state?.rows ?? 0) > 0) return;
  const companion = readdirSync(folder).find((name) => {
    if (name.startsWith('journal-')) return true;
    const recent = name.startsWith('recent-') && name.endsWith('.mdb') ? lmdbFileState(join(folder, name)) : undefined;
    return recent !== undefined && (recent.rows > 0 || recent.damage !== null);
  });
  if (companion !== undefined)
    throw new StoreUnavailable(
      `${file} is ${state === undefined ? 'missing' : 'empty'}, but ${companion} next to it is not: it was lost. ` +
        `${advice}.`,
    );
}
