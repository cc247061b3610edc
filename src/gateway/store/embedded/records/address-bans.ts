import type { AddressBan, BanStore } from '../../port.js';
import { unpackState } from '../../subject-state.js';
import type { Addresses } from '../addresses.js';
import { attempt } from '../files/errors.js';
import type { Stores } from '../stores.js';
import { transact } from '../journal/transaction.js';
import { BANNED_ADDRESSES, banPage, NO_BAN } from './ban-index.js';

export function addressBansOf(stores: Stores, addresses: Addresses): Pick<BanStore, 'addresses' | 'liftAddress'> {
  const banOf = (address: string): AddressBan | undefined => {
    const bytes = stores.durable.getBinary(`a${address}`);
    const state = stores.memory.find('a', address)?.state ?? (bytes && unpackState(bytes));
    if (state === undefined || state.bannedUntilMs <= Date.now()) return undefined;
    return { address, untilMs: state.bannedUntilMs, level: state.banLevel };
  };
  return {
    addresses: (cursor, count) => banPage(stores, BANNED_ADDRESSES, cursor, count, banOf),
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
