import type { AdminToken, TokenStore } from '../../records/admin-token.js';
import { inTransaction, reading } from '../files/errors.js';
import { rangeOf, tokenRow } from '../files/rows.js';
import type { Stores } from '../owner/stores.js';

export function tokensOf(stores: Stores): TokenStore {
  return {
    read: (id) =>
      reading(stores, (durable) => {
        const bytes = durable.getBinary(tokenRow(id));
        return bytes && tokenOf(bytes);
      }),
    list: () => reading(stores, (durable) => [...durable.getRange(rangeOf('t'))].map(({ value }) => tokenOf(value))),
    add: (token) =>
      inTransaction(stores, () => {
        stores.durableCapacity.claim();
        stores.durable.putSync(tokenRow(token.id), Buffer.from(JSON.stringify(token)));
      }),
    remove: (id) => inTransaction(stores, () => stores.durable.removeSync(tokenRow(id))),
  };
}

function tokenOf(bytes: Buffer): AdminToken {
  return JSON.parse(bytes.toString()) as AdminToken;
}
