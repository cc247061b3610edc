import type { AddressBan, BanStore } from '../../port.js';
import { unpackState } from '../../subject-state.js';
import type { Addresses } from '../addresses.js';
import { attempt } from '../files/errors.js';
import { addressRow, bannedRow, rangeOf } from '../files/rows.js';
import type { Stores } from '../files/stores.js';
import { transact } from '../log/transaction.js';
import { NO_BAN, noteBan } from './ban-index.js';

const KIND = bannedRow(addressRow(''));

/** They stand in `recent` alone, which all processes of the machine read anew for each decision. */
export function addressBansOf(stores: Stores, addresses: Addresses): Pick<BanStore, 'addresses' | 'liftAddress'> {
  const banOf = (address: string): AddressBan | undefined => {
    const bytes = stores.recent.getBinary(addressRow(address));
    if (bytes === undefined) return undefined;
    const { bannedUntilMs: untilMs, banLevel: level } = unpackState(bytes);
    return untilMs > Date.now() ? { address, untilMs, level } : undefined;
  };
  return {
    addresses: (cursor, count) =>
      attempt(stores, () => {
        stores.recent.resetReadTxn();
        const range = { ...rangeOf(KIND), start: KIND + (cursor ?? ''), exclusiveStart: true, limit: count };
        const found = [...stores.recent.getKeys(range)].map((row) => row.slice(KIND.length));
        const bans = found.map(banOf).filter((ban) => ban !== undefined);
        return { bans, cursor: found.length < count ? null : found.at(-1)! };
      }),
    liftAddress: (address) =>
      attempt(stores, () =>
        transact(stores, (transaction) => {
          const name = addresses.row(address);
          const entry = transaction.address(name);
          if (entry.state.bannedUntilMs <= Date.now()) return false;
          Object.assign(entry.state, NO_BAN);
          entry.changed = true;
          noteBan(stores.recent, name, 0);
          return true;
        }),
      ),
  };
}
