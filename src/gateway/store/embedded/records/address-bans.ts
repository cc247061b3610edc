import type { AddressBan, BanStore } from '../../port.js';
import { unpackState } from '../../subject-state.js';
import type { Addresses } from '../addresses.js';
import { attempt, reading } from '../files/errors.js';
import { rangeOf } from '../files/rows.js';
import type { Stores } from '../files/stores.js';
import { transact } from '../journal/transaction.js';
import { BANNED_ADDRESSES as KIND, NO_BAN } from './ban-index.js';

export function addressBansOf(stores: Stores, addresses: Addresses): Pick<BanStore, 'addresses' | 'liftAddress'> {
  const banOf = (address: string): AddressBan | undefined => {
    const bytes = stores.durable.getBinary(`a${address}`);
    const state = stores.memory.find('a', address)?.state ?? (bytes && unpackState(bytes));
    if (state === undefined || state.bannedUntilMs <= Date.now()) return undefined;
    return { address, untilMs: state.bannedUntilMs, level: state.banLevel };
  };
  return {
    async addresses(cursor, count) {
      await stores.fold.takeOver();
      return reading(stores, (durable) => {
        const range = { ...rangeOf(KIND), start: KIND + (cursor ?? ''), exclusiveStart: true, limit: count };
        const found = [...durable.getKeys(range)].map((row) => row.slice(KIND.length));
        const bans = found.map(banOf).filter((ban) => ban !== undefined);
        return { bans, cursor: found.length < count ? null : found.at(-1)! };
      });
    },
    liftAddress: (address) =>
      attempt(stores, () =>
        transact(stores, (transaction) => {
          const entry = transaction.address(addresses.row(address));
          if (entry.state.bannedUntilMs <= Date.now()) return false;
          Object.assign(entry.state, NO_BAN);
          transaction.change(entry);
          transaction.noteBan(entry, 0);
          return true;
        }),
      ),
  };
}
