import { setImmediate } from 'node:timers/promises';
import type { AddressBan, BanPage, BanStore } from '../../port.js';
import { noteIn, type Ban } from '../../records/key.js';
import type { Addresses } from './addresses.js';
import { attempt, reading } from '../files/errors.js';
import { bannedRange, banNoteRow, rangeOf } from '../files/rows.js';
import type { Kind } from '../journal/entry.js';
import { transact } from '../owner/transaction.js';
import type { Stores } from '../owner/stores.js';

const PAGE_ROWS = 1_000;

/** A subject's ban is in the same row as its buckets; the index has the names and ends of bans. */
export function bansOf(stores: Stores, addresses: Addresses): BanStore {
  const inForce = (kind: Kind, id: string): Pick<Ban, 'untilMs' | 'level'> | undefined => {
    const { bannedUntilMs: untilMs, banLevel: level } = stores.memory.stateOf(kind, id);
    return untilMs > Date.now() ? { untilMs, level } : undefined;
  };
  const ofKey = (keyId: string): Ban | undefined => {
    const ban = inForce('s', keyId);
    const note = stores.durable.getBinary(banNoteRow(keyId))?.toString() ?? '';
    return ban && { keyId, ...ban, note: noteIn(note, ban.untilMs) };
  };
  const ofAddress = (address: string): AddressBan | undefined => {
    const ban = inForce('a', address);
    return ban && { address, ...ban };
  };
  return {
    read: (keyId) => attempt(stores, () => ofKey(keyId)),
    keys: (cursor, count) => banPage(stores, 's', cursor, count, ofKey),
    addresses: (cursor, count) => banPage(stores, 'a', cursor, count, ofAddress),
    liftAddress: (address) =>
      attempt(stores, () =>
        transact(stores, (transaction) => {
          const entry = transaction.address(addresses.row(address));
          if (entry.state.bannedUntilMs <= Date.now()) return false;
          transaction.setBan(entry, 0);
          return true;
        }),
      ),
    inForce: async () => {
      await stores.fold.takeOver();
      return { keys: await countInForce(stores, 's'), addresses: await countInForce(stores, 'a') };
    },
  };
}

/** Returns a page of bans, ordered by key ID or address. @param banOf returns undefined if none is in force */
async function banPage<B>(
  stores: Stores,
  kind: Kind,
  cursor: string | null,
  count: number,
  banOf: (who: string) => B | undefined,
): Promise<BanPage<B>> {
  await stores.fold.takeOver();
  const { start, end } = bannedRange(kind);
  return reading(stores, (durable) => {
    const names = durable.getKeys({ start: start + (cursor ?? ''), end, exclusiveStart: true, limit: count });
    const found = [...names].map((row) => row.slice(start.length));
    const bans = found.map(banOf).filter((ban) => ban !== undefined);
    return { bans, cursor: found.length < count ? null : found.at(-1)! };
  });
}

/** Counts the bans in force, a page at a time. */
async function countInForce(stores: Stores, kind: Kind): Promise<number> {
  const { start, end } = bannedRange(kind);
  const nowMs = Date.now();
  let count = 0;
  for (let [after, isMore] = [start, true]; isMore;) {
    await reading(stores, (durable) => {
      const page = [...durable.getRange({ start: after, end, exclusiveStart: true, limit: PAGE_ROWS })];
      count += page.filter(({ value }) => !isBanOver(value, nowMs)).length;
      isMore = page.length === PAGE_ROWS;
      after = page.at(-1)?.key ?? after;
    });
    await setImmediate();
  }
  return count;
}

/** Returns whether a ban in the index is over. */
export function isBanOver(end: Buffer, nowMs: number): boolean {
  return end.readDoubleLE() <= nowMs;
}

/** Lifts up to `limit` bans of keys and addresses; returns false if there are none. */
export async function liftSome(stores: Stores, limit: number): Promise<boolean> {
  await stores.fold.takeOver();
  const banned = await reading(stores, (durable) => [...durable.getKeys({ ...rangeOf('n'), limit })]);
  if (banned.length === 0) return false;
  const ofKeys = bannedRange('s').start;
  return attempt(stores, () =>
    transact(stores, (transaction) => {
      for (const row of banned) {
        const id = row.slice(ofKeys.length);
        transaction.setBan(row.startsWith(ofKeys) ? transaction.key(id) : transaction.address(id), 0);
      }
      return true;
    }),
  );
}
