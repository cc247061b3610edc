import type { AdminToken, TokenStore } from '../../records/admin-token.js';
import { attempt, inTransaction } from '../files/errors.js';
import { rangeOf, tokenRow } from '../files/rows.js';
import type { Stores } from '../files/stores.js';

/** Admin tokens live in `durable`, beside the records of keys. */
export function tokensOf(stores: Stores): TokenStore {
  return {
    read: (id) =>
      attempt(stores, () => {
        stores.durable.resetReadTxn();
        const bytes = stores.durable.getBinary(tokenRow(id));
        return bytes === undefined ? undefined : (JSON.parse(bytes.toString()) as AdminToken);
      }),
    list: () =>
      attempt(stores, () => {
        stores.durable.resetReadTxn();
        const tokens: AdminToken[] = [];
        for (const { value } of stores.durable.getRange(rangeOf('t')))
          tokens.push(JSON.parse(value.toString()) as AdminToken);
        return tokens;
      }),
    add: (token) =>
      inTransaction(stores, () => {
        stores.durableCapacity.claim();
        stores.durable.putSync(tokenRow(token.id), Buffer.from(JSON.stringify(token)));
      }),
    remove: (id) => inTransaction(stores, () => stores.durable.removeSync(tokenRow(id))),
  };
}
