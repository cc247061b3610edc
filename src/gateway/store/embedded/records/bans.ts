import type { GatewayEvent } from '../../outbox/event.js';
import type { Ban, BanNote, BanStore } from '../../port.js';
import type { Addresses } from '../addresses.js';
import { addressBansOf } from './address-bans.js';
import { BANNED_KEYS, bansInForce, NO_BAN, type BanState } from './ban-index.js';
import { banNoteRow, rangeOf } from '../files/rows.js';
import type { Stores } from '../files/stores.js';
import { transact } from '../journal/transaction.js';
import { attempt, inTransaction, reading, translating } from '../files/errors.js';

type StoredNote = BanNote & { readonly untilMs: number };

/** Bans stand in the same row as the buckets; what an operator does to one is on disk when the promise ends. */
export function bansOf(stores: Stores, addresses: Addresses): BanStore {
  return {
    ...addressBansOf(stores, addresses),
    read: (keyId) => attempt(stores, () => banOf(stores, keyId)),
    start: async (keyId, untilMs, note, event) => {
      // First the note: it is shown only for the ban whose end it names.
      await keepNote(stores, keyId, note === undefined ? undefined : { untilMs, ...note });
      await attempt(stores, () => {
        change(stores, keyId, { ...NO_BAN, bannedUntilMs: untilMs, banLevel: 1 }, event);
      });
      await translating(stores, () => stores.journal.sync());
    },
    lift: async (keyId) => {
      const lifted = await attempt(stores, () => change(stores, keyId, NO_BAN) > Date.now());
      await keepNote(stores, keyId, undefined);
      await translating(stores, () => stores.journal.sync());
      return lifted;
    },
    inForce: () => bansInForce(stores, Date.now()),
  };
}

function banOf(stores: Stores, keyId: string): Ban | undefined {
  const { bannedUntilMs, banLevel } = stores.memory.stateOf(keyId);
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
  await inTransaction(stores, (durable) => {
    if (note !== undefined) durable.putSync(banNoteRow(keyId), Buffer.from(JSON.stringify(note)));
    else if (durable.getBinaryFast(banNoteRow(keyId)) !== undefined) durable.removeSync(banNoteRow(keyId));
  });
}

/** Lifts some of the bans in force, of keys and addresses; false when there are none. */
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

/** Gives the end of the ban that stood before. */
function change(stores: Stores, keyId: string, ban: BanState, event?: GatewayEvent): number {
  return transact(stores, (transaction) => {
    const entry = transaction.key(keyId);
    const { bannedUntilMs } = entry.state;
    Object.assign(entry.state, ban);
    transaction.change(entry);
    if (event !== undefined) transaction.emit(event);
    transaction.noteBan(entry, ban.bannedUntilMs);
    return bannedUntilMs;
  });
}
