import type { AdminToken, TokenStore } from '../../../admin-token.js';
import { attempt, inTransaction } from '../files/errors.js';
import { rangeOf, tokenRow } from '../files/rows.js';
import type { Stores } from '../files/stores.js';

/** Admin tokens live in `durable`, beside the records of keys. */
export function tokensOf(stores: Stores): TokenStore {
  const { durable, durableCapacity } = stores;
  return {
    read: (id) =>
      attempt(stores, () => {
        durable.resetReadTxn();
        const bytes = durable.getBinary(tokenRow(id));
        return bytes === undefined ? undefined : (JSON.parse(bytes.toString()) as AdminToken);
      }),
    list: () =>
      attempt(stores, () => {
        durable.resetReadTxn();
        const tokens: AdminToken[] = [];
        for (const { value } of durable.getRange(rangeOf('t'))) tokens.push(JSON.parse(value.toString()) as AdminToken);
        return tokens;
      }),
    add: (token) =>
      inTransaction(stores, () => {
        durableCapacity.claim();
        durable.putSync(tokenRow(token.id), Buffer.from(JSON.stringify(token)));
      }),
    remove: (id) => inTransaction(stores, () => durable.removeSync(tokenRow(id))),
  };
}
