import { randomBytes } from 'node:crypto';
import { SESSION_SECRET_BYTES, type SessionSecret } from '../../records/session-secret.js';
import { inTransaction, reading } from '../files/errors.js';
import { AFTER_ALL, endedSessionRow, SESSION_SECRET } from '../files/rows.js';
import { doubleIn, putDouble } from '../files/database.js';
import type { Stores } from '../owner/stores.js';

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
      // Another call may have created it meanwhile.
      (await inTransaction(stores, () => stores.durable.getBinary(SESSION_SECRET) ?? make())),
    replace: () => inTransaction(stores, () => void make()),
    end: (sessionId, keptMs) =>
      inTransaction(stores, () => {
        forgetEnded(stores);
        stores.durableCapacity.claim();
        putDouble(stores.durable, endedSessionRow(sessionId), Date.now() + keptMs);
      }),
    hasEnded: (sessionId) => reading(stores, (durable) => durable.getBinary(endedSessionRow(sessionId)) !== undefined),
  };
}

/** Deletes ended sessions whose cookies have expired. In a transaction. */
function forgetEnded({ durable }: Stores): void {
  const all = [...durable.getKeys({ start: endedSessionRow(''), end: endedSessionRow(AFTER_ALL) })];
  for (const row of all) if (doubleIn(durable, row) < Date.now()) durable.removeSync(row);
}
