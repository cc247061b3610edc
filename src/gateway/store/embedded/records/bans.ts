import type { GatewayEvent } from '../../outbox/event.js';
import type { Ban, BanNote, BanStore } from '../../port.js';
import type { Addresses } from '../addresses.js';
import { addressBansOf } from './address-bans.js';
import { bannedSubjects, bansInForce, NO_BAN, noteBan, type BanState } from './ban-index.js';
import type { Checkpoint } from '../log/checkpoint.js';
import { banNoteRow, keyRow } from '../files/rows.js';
import type { Stores } from '../files/stores.js';
import { transact } from '../log/transaction.js';
import { attempt, inTransaction } from '../files/errors.js';

type StoredNote = BanNote & { readonly untilMs: number };

/** Bans stand in the same row as the buckets; what an operator does to one is on disk when the promise ends. */
export function bansOf(stores: Stores, checkpoint: Checkpoint, addresses: Addresses): BanStore {
  return {
    ...addressBansOf(stores, addresses),
    read: (keyId) => attempt(stores, () => banOf(stores, keyId)),
    start: async (keyId, untilMs, note, event) => {
      // First the note: it is shown only for the ban whose end it names.
      await keepNote(stores, keyId, note === undefined ? undefined : { untilMs, ...note });
      await attempt(stores, () => {
        change(stores, keyId, { ...NO_BAN, bannedUntilMs: untilMs, banLevel: 1 }, event);
      });
      await checkpoint.save();
    },
    lift: async (keyId) => {
      const lifted = await attempt(stores, () => change(stores, keyId, NO_BAN) > Date.now());
      await keepNote(stores, keyId, undefined);
      await checkpoint.save();
      return lifted;
    },
    inForce: () => bansInForce(stores, Date.now()),
  };
}

function banOf(stores: Stores, keyId: string): Ban | undefined {
  stores.memtable.refresh();
  const { bannedUntilMs, banLevel } = stores.memtable.stateOf(keyId);
  return bannedUntilMs > Date.now()
    ? { keyId, untilMs: bannedUntilMs, level: banLevel, note: noteOf(stores, keyId, bannedUntilMs) }
    : undefined;
}

/** The note that stands by the ban until `untilMs`. A later one that began by itself has none. */
function noteOf({ durable }: Stores, keyId: string, untilMs: number): BanNote | null {
  const bytes = durable.getBinary(banNoteRow(keyId));
  if (bytes === undefined) return null;
  const { untilMs: ofBan, ...note } = JSON.parse(bytes.toString()) as StoredNote;
  return ofBan === untilMs ? note : null;
}

async function keepNote(stores: Stores, keyId: string, note: StoredNote | undefined): Promise<void> {
  const { durable } = stores;
  await inTransaction(stores, () => {
    if (note !== undefined) durable.putSync(banNoteRow(keyId), Buffer.from(JSON.stringify(note)));
    else if (durable.getBinaryFast(banNoteRow(keyId)) !== undefined) durable.removeSync(banNoteRow(keyId));
  });
}

/** Lifts some of the bans in force, of keys and addresses; false when there are none. */
export function liftSome(stores: Stores, limit: number): boolean {
  return transact(stores, (transaction) => {
    const subjects = bannedSubjects(stores.recent, limit);
    for (const subject of subjects) {
      const isKey = subject.startsWith(keyRow(''));
      const entry = isKey ? transaction.key(subject.slice(keyRow('').length)) : transaction.address(subject);
      Object.assign(entry.state, NO_BAN);
      if ('slots' in entry) transaction.change(entry);
      else entry.changed = true;
      noteBan(stores.recent, subject, 0);
    }
    return subjects.length > 0;
  });
}

/** Gives the end of the ban that stood before. */
function change(stores: Stores, keyId: string, ban: BanState, event?: GatewayEvent): number {
  return transact(stores, (transaction) => {
    const entry = transaction.key(keyId);
    const { bannedUntilMs } = entry.state;
    Object.assign(entry.state, ban);
    transaction.change(entry);
    if (event !== undefined) transaction.emit(event);
    noteBan(stores.recent, keyRow(keyId), ban.bannedUntilMs);
    return bannedUntilMs;
  });
}
