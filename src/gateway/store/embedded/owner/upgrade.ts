import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import { lmdbFileState } from '../../../../shared/files/lmdb-file.js';
import type { Log } from '../../../../shared/log.js';
import { StoreUnavailable } from '../../../admission/port.js';
import { isKnownFormat } from '../../format.js';
import { putBans, type BanOfKey } from '../journal/ban-history.js';
import { Entry } from '../journal/entry.js';
import { putEntry } from '../journal/fold.js';
import { appendPending } from '../journal/pending.js';
import { unpackSubjects } from '../journal/record.js';
import type { GatewayEvent } from '../../outbox/event.js';
import { FORMAT_ROW, rangeOf } from '../files/rows.js';
import { doubleIn, type Store } from '../files/database.js';

/** The first format with a journal; versions without one refuse it. */
const FORMAT = '3';
/** Up to 0.4, in both files: rows of the log, by transaction. */
const LOG = 'l';
/** In `durable`: the ID of the log that it has a copy of, and the last copied transaction. In `recent`: its ID. */
const [COPIED_MARK, LOG_ID] = ['p', 'o'];

/**
 * Marks a new folder, and converts one of version 0.3 or 0.4. These kept a log in a second file, `recent`, which is
 * valid until the machine restarts, and a copy of it, half a second behind, in `durable`. Throws StoreUnavailable for
 * version 0.2, and for a format that this version does not know.
 */
export function upgrade(durable: Store, folder: string, bootId: string, log: Log | undefined): void {
  const format = durable.getBinary(FORMAT_ROW)?.toString();
  if (format !== FORMAT) {
    if (format !== undefined && !isKnownFormat(format))
      throw new StoreUnavailable(
        `The embedded store in ${folder} has format ${format}, which this version of Petgate does not know: ` +
          'start the version that wrote it, or a later one.',
      );
    if (format === undefined && [...durable.getKeys({ limit: 1 })].length > 0)
      throw new StoreUnavailable(
        `The embedded store in ${folder} is of version 0.2: start 0.3 or 0.4 on it once, then this version.`,
      );
    const path = join(folder, `recent-${bootId}.mdb`);
    moveDamaged(path, log);
    const recent = existsSync(path) ? open<Buffer, string>(path, { encoding: 'binary' }) : undefined;
    durable.transactionSync(() => takeOver(durable, recent));
    void recent?.close();
  }
  for (const name of readdirSync(folder))
    if (/^recent-.*\.mdb(-lock)?$|^opening$/.test(name)) rmSync(join(folder, name), { force: true, recursive: true });
}

/** Converts both files into the current format. In a transaction. */
function takeOver(durable: Store, recent: Store | undefined): void {
  const mark = durable.getBinary(COPIED_MARK);
  const isCopied = mark !== undefined && recent !== undefined && mark.readDoubleLE() === doubleIn(recent, LOG_ID);
  putLogged([durable, ...(recent === undefined ? [] : [recent])], durable);
  if (recent !== undefined) takeUnlogged(recent, durable, isCopied ? mark.readDoubleLE(8) : 0);
  const over = [...durable.getKeys(rangeOf(LOG)), ...customersWebhooks(durable), COPIED_MARK, 'v'];
  for (const name of over) durable.removeSync(name);
  durable.putSync(FORMAT_ROW, Buffer.from(FORMAT));
}

/** Writes states and counts of keys from the logs; entries of a later store override those of an earlier one. */
function putLogged(stores: readonly Store[], durable: Store): void {
  const entries = new Map<string, Entry>();
  for (const store of stores)
    for (const { value } of [...store.getRange(rangeOf(LOG))])
      for (const { id, state, slots } of unpackSubjects(value)) {
        const entry = entries.get(id) ?? new Entry('s', id, state);
        entry.state = state;
        for (const { label, counts } of slots) entry.put(label, counts, 1);
        entries.set(id, entry);
      }
  for (const entry of entries.values()) putEntry(durable, entry, 0);
}

/** Copies addresses, bans and crossings, and the events and automatic bans of transactions after `copied`. */
function takeUnlogged(recent: Store, durable: Store, copied: number): void {
  for (const kind of ['a', 'n', 'T'])
    for (const { key, value } of recent.getRange(rangeOf(kind))) durable.putSync(key, Buffer.from(value));
  const after = (kind: string): { start: string; end: string } => ({
    ...rangeOf(kind),
    start: kind + String(copied + 1).padStart(16, '0'),
  });
  for (const { value } of recent.getRange(after('E')))
    appendPending(durable, JSON.parse(value.toString()) as readonly GatewayEvent[]);
  for (const { value } of recent.getRange(after('B')))
    putBans(durable, JSON.parse(value.toString()) as readonly BanOfKey[]);
}

/** Moves a damaged file away: on opening it, lmdb would end the process without a message. */
function moveDamaged(path: string, log: Log | undefined): void {
  const reason = lmdbFileState(path)?.damage ?? null;
  if (reason === null) return;
  const movedTo = `${path}.damaged`;
  renameSync(path, movedTo);
  log?.error(
    { file: path, reason, movedTo },
    'a damaged file of the embedded store was moved away; all but its last half second is in durable.mdb',
  );
}

/** Yields the rows that 0.3 had for customers' webhooks. */
function* customersWebhooks(durable: Store): Generator<string> {
  for (const kind of ['W', 'C', 'D', 'R', 'S']) yield* durable.getKeys(rangeOf(kind));
  for (const row of durable.getKeys(rangeOf('e'))) if (row.endsWith('-to-customer')) yield row;
}

/** Returns the ID of the machine's current boot; a constant if the system has none, so that files stay valid. */
export function bootIdOf(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return 'any-boot';
  }
}
