import { readdirSync, renameSync } from 'node:fs';
import { basename, join } from 'node:path';
import { lmdbFileState } from '../../../../shared/lmdb-file.js';
import type { Log } from '../../../../shared/log.js';
import { StoreUnavailable } from '../../../admission/port.js';

/** What an operator can do where `durable` is lost, by whose folder it is. */
const ADVICE = {
  store:
    'It holds keys, customers, their history and the ledger. Stop the gateway, keep a copy of the folder, and put a ' +
    'backup of the whole folder in its place; or move the folder away, start, and run "petgate store import" with ' +
    'your last export',
  outage:
    'It holds copies of keys, and counts of an outage that Redis may lack; Redis has all else. Keep a copy of the ' +
    'folder and move it away, then start',
};

/**
 * Looks at the files before lmdb maps them: with a damaged one the process would end without a word. A damaged `recent`
 * is moved away: `durable` has all but its last half second. Throws StoreUnavailable for a damaged `durable`, and for
 * an empty one next to a `recent` that has rows.
 */
export function inspectFiles(folder: string, recentName: string, log: Log | undefined): void {
  const advice = ADVICE[basename(folder) === 'failover' ? 'outage' : 'store'];
  const [file, durable] = [join(folder, 'durable.mdb'), lmdbFileState(join(folder, 'durable.mdb'))];
  if (durable !== undefined && durable.damage !== null)
    throw new StoreUnavailable(`${file} is damaged: ${durable.damage}. It was not opened. ${advice}.`);
  const recents = readdirSync(folder).filter((name) => name.startsWith('recent-') && name.endsWith('.mdb'));
  const used = recents.find((name) => {
    const recent = lmdbFileState(join(folder, name));
    return recent !== undefined && (recent.rows > 0 || recent.damage !== null);
  });
  if ((durable?.rows ?? 0) === 0 && used !== undefined)
    throw new StoreUnavailable(
      `${file} is ${durable === undefined ? 'missing' : 'empty'}, but ${used} next to it is not: it was lost. ` +
        `${advice}.`,
    );
  const recent = join(folder, recentName);
  const damage = lmdbFileState(recent)?.damage ?? null;
  if (damage === null) return;
  const movedTo = `${recent}.damaged`;
  renameSync(recent, movedTo);
  log?.error(
    { file: recent, reason: damage, movedTo },
    'a file of the embedded store is damaged, and was moved away; all but its last half second is in durable.mdb',
  );
}
