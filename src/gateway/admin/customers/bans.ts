import type { Answer } from '../answer.js';
import { liftBan, notBanned, readStart, startBan, viewOf } from '../bans.js';
import type { Call, Route } from '../route.js';

/** Bans of all keys that a customer has at that moment: each is a key's own, and ends or is lifted like any. */
export const CUSTOMER_BAN_ROUTES: readonly Route[] = [
  {
    method: 'PUT',
    path: '/admin/v1/customers/{id}/bans',
    summary: 'Bans every key of a customer that is not revoked',
    role: 'keys',
    takes: 'NewBan',
    gives: [200, 'BanList'],
    handle: startAll,
  },
  {
    method: 'DELETE',
    path: '/admin/v1/customers/{id}/bans',
    summary: 'Lifts the bans of all keys of a customer',
    role: 'keys',
    gives: [204],
    handle: liftAll,
  },
];

/** Keys banned at the same time. */
const AT_ONCE = 32;

/** May break off half way, when the store goes away: to repeat it does no harm. */
async function startAll({ parts, id, body, actor }: Call): Promise<Answer> {
  const start = readStart(body);
  const untilMs = (await parts.registry.nowMs()) + start.forMs;
  const keyIds = await goodKeysOf(parts, id);
  const bans = await inTurns(keyIds, (keyId) => startBan(parts, keyId, untilMs, start.reason, actor));
  return { json: { bans: bans.map(viewOf) } };
}

async function liftAll({ parts, id, actor }: Call): Promise<undefined> {
  const lifted = await inTurns(await goodKeysOf(parts, id), (keyId) => liftBan(parts, keyId, actor));
  if (!lifted.includes(true)) throw notBanned();
}

async function goodKeysOf(parts: Call['parts'], id: string): Promise<readonly string[]> {
  const { id: customerId } = await parts.registry.customers.get(id);
  const keys = await parts.registry.keysOf(customerId);
  return keys.filter(({ status }) => status !== 'revoked').map((key) => key.id);
}

async function inTurns<T>(keyIds: readonly string[], work: (keyId: string) => Promise<T>): Promise<readonly T[]> {
  const done: T[] = [];
  for (let from = 0; from < keyIds.length; from += AT_ONCE)
    done.push(...(await Promise.all(keyIds.slice(from, from + AT_ONCE).map(work))));
  return done;
}
