import { randomBytes } from 'node:crypto';
import { SESSION_SECRET_BYTES, type SessionSecret } from '../../records/session-secret.js';
import { inTransaction, reading } from '../files/errors.js';
import { SESSION_SECRET } from '../files/rows.js';
import type { Stores } from '../files/stores.js';

export function sessionSecretOf(stores: Stores): SessionSecret {
  const make = (): Buffer => {
    stores.durableCapacity.claim();
    const secret = randomBytes(SESSION_SECRET_BYTES);
    stores.durable.putSync(SESSION_SECRET, secret);
    return secret;
  };
  return {
    read: async () =>
      (await reading(stores, (durable) => durable.getBinary(SESSION_SECRET))) ??
      // Another process may have made it meanwhile.
      (await inTransaction(stores, () => stores.durable.getBinary(SESSION_SECRET) ?? make())),
    replace: () => inTransaction(stores, () => void make()),
  };
}
