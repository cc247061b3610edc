import { setImmediate } from 'node:timers/promises';
import type { SubjectState } from '../../../admission/decide.js';
import type { BanPage, BansInForce } from '../../port.js';
import { rangeOf } from '../files/rows.js';
import type { Stores } from '../stores.js';
import { reading } from '../files/errors.js';

/** The part of a state that is about bans. */
type BanState = Pick<SubjectState, 'bannedUntilMs' | 'banLevel' | 'strikes' | 'strikesSinceMs'>;
export const NO_BAN: BanState = { bannedUntilMs: 0, banLevel: 0, strikes: 0, strikesSinceMs: 0 };

const PAGE_ROWS = 1_000;

/** Beginnings of the names of rows in the index of bans; the key's ID or the address follows. */
export const BANNED_KEYS = 'nr';
export const BANNED_ADDRESSES = 'na';

/** Returns whether a ban in the index is over. */
export function isBanOver(end: Buffer, nowMs: number): boolean {
  return end.readDoubleLE() <= nowMs;
}

/** Returns a page of bans, ordered by key ID or address. @param banOf returns undefined if none is in force */
export async function banPage<B>(
  stores: Stores,
  kind: string,
  cursor: string | null,
  count: number,
  banOf: (who: string) => B | undefined,
): Promise<BanPage<B>> {
  await stores.fold.takeOver();
  return reading(stores, (durable) => {
    const range = { ...rangeOf(kind), start: kind + (cursor ?? ''), exclusiveStart: true, limit: count };
    const found = [...durable.getKeys(range)].map((row) => row.slice(kind.length));
    const bans = found.map(banOf).filter((ban) => ban !== undefined);
    return { bans, cursor: found.length < count ? null : found.at(-1)! };
  });
}

/** Counts the bans in force, a page at a time. */
export async function bansInForce(stores: Stores, nowMs: number): Promise<BansInForce> {
  const count = async (kind: string): Promise<number> => {
    const { end } = rangeOf(kind);
    let found = 0;
    for (let after: string | null = kind; after !== null;) {
      after = await reading(stores, (durable) => {
        let rows = 0;
        let last = kind;
        const page = { start: after ?? kind, end, exclusiveStart: true, limit: PAGE_ROWS };
        for (const { key, value } of durable.getRange(page)) {
          rows += 1;
          last = key;
          if (!isBanOver(value, nowMs)) found += 1;
        }
        return rows < PAGE_ROWS ? null : last;
      });
      await setImmediate();
    }
    return found;
  };
  await stores.fold.takeOver();
  return { keys: await count(BANNED_KEYS), addresses: await count(BANNED_ADDRESSES) };
}
