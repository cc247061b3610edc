import type { BanStore } from '../../port.js';
import type { Ban, BanNote } from '../../records/key.js';
import type { Addresses } from '../addresses.js';
import { addressBansOf } from './address-bans.js';
import { BANNED_KEYS, banPage, bansInForce, NO_BAN } from './ban-index.js';
import { banNoteRow, rangeOf } from '../files/rows.js';
import type { Stores } from '../stores.js';
import { transact } from '../journal/transaction.js';
import { attempt, reading } from '../files/errors.js';

type StoredNote = BanNote & { readonly untilMs: number };

/** A subject's ban is in the same row as its buckets. */
export function bansOf(stores: Stores, addresses: Addresses): BanStore {
  return {
    ...addressBansOf(stores, addresses),
    read: (keyId) => attempt(stores, () => banOf(stores, keyId)),
    keys: (cursor, count) => banPage(stores, BANNED_KEYS, cursor, count, (keyId) => banOf(stores, keyId)),
    inForce: () => bansInForce(stores, Date.now()),
  };
}

function banOf(stores: Stores, keyId: string): Ban | undefined {
  const { bannedUntilMs, banLevel } = stores.memory.stateOf(keyId);
  return bannedUntilMs > Date.now()
    ? { keyId, untilMs: bannedUntilMs, level: banLevel, note: noteOf(stores, keyId, bannedUntilMs) }
    : undefined;
}

/** Returns the note of the ban until `untilMs`; null for an automatic ban after the noted one. */
function noteOf({ durable }: Stores, keyId: string, untilMs: number): BanNote | null {
  const bytes = durable.getBinary(banNoteRow(keyId));
  if (bytes === undefined) return null;
  const { untilMs: ofBan, ...note } = JSON.parse(bytes.toString()) as StoredNote;
  return ofBan === untilMs ? note : null;
}

/** Lifts up to `limit` bans of keys and addresses; returns false if there are none. */
export async function liftSome(stores: Stores, limit: number): Promise<boolean> {
  await stores.fold.takeOver();
  const subjects = await reading(stores, (durable) => [...durable.getKeys({ ...rangeOf('n'), limit })]);
  if (subjects.length === 0) return false;
  return attempt(stores, () =>
    transact(stores, (transaction) => {
      for (const subject of subjects) {
        const id = subject.slice(BANNED_KEYS.length);
        const entry = subject.startsWith(BANNED_KEYS) ? transaction.key(id) : transaction.address(id);
        Object.assign(entry.state, NO_BAN);
        transaction.change(entry);
        transaction.noteBan(entry, 0);
      }
      return true;
    }),
  );
}
