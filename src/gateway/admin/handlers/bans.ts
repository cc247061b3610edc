import { required } from '../../accounts/fields.js';
import { AdminRefusal } from '../answer.js';
import { banPaging, textCursor, textOf } from '../input/query.js';
import { Ban, BanList, BanPage, NewBan } from '../openapi/schemas.js';
import { route, type AdminParts, type Route } from '../route.js';
import { banView } from './views.js';

/** Keys of a customer banned at the same time. */
const AT_ONCE = 32;

const BANS = '/admin/v1/bans';
const OF_CUSTOMER = '/admin/v1/customers/{id}/bans';

/** Bans of keys; those of addresses are in address-bans.ts. */
export const BAN_ROUTES: readonly Route[] = [
  route(`GET ${BANS}`, 'read', 'Bans of keys in force', {
    query: banPaging,
    gives: BanPage,
    handle: async ({ parts: { engine }, query: { limit, cursor } }) => {
      const page = await engine.bans.keys(cursor === null ? null : textOf(cursor), limit);
      return { json: { bans: page.bans.map(banView), cursor: textCursor(page.cursor) } };
    },
  }),
  route(`GET ${BANS}/{id}`, 'read', 'The ban of one key', {
    gives: Ban,
    handle: async ({ parts, id }) => {
      const ban = await parts.engine.bans.read((await parts.registry.get(id)).id);
      if (ban === undefined) throw notBanned();
      return { json: banView(ban) };
    },
  }),
  route(`PUT ${BANS}/{id}`, 'keys', 'Bans a key', {
    takes: NewBan,
    gives: Ban,
    handle: async ({ parts: { registry }, id, body, actor }) => {
      const { for: forMs, reason } = required(body, NewBan.shape);
      return { json: banView(await registry.ban(id, forMs, reason, actor)) };
    },
  }),
  route(`DELETE ${BANS}/{id}`, 'keys', 'Lifts a ban, and forgets what led to it', {
    handle: async ({ parts, id, actor }) => {
      if (!(await lift(parts, id, actor))) throw notBanned();
    },
  }),
  // Both may break off half way, when the store goes away: to repeat it does no harm.
  route(`PUT ${OF_CUSTOMER}`, 'keys', 'Bans every key of a customer that is not revoked', {
    takes: NewBan,
    gives: BanList,
    handle: async ({ parts, id, body, actor }) => {
      const { for: forMs, reason } = required(body, NewBan.shape);
      const bans = await forEachKey(parts, id, (keyId) => parts.registry.ban(keyId, forMs, reason, actor));
      return { json: { bans: bans.map(banView) } };
    },
  }),
  route(`DELETE ${OF_CUSTOMER}`, 'keys', 'Lifts the bans of all keys of a customer', {
    handle: async ({ parts, id, actor }) => {
      const lifted = await forEachKey(parts, id, (keyId) => lift(parts, keyId, actor));
      if (!lifted.includes(true)) throw notBanned();
    },
  }),
];

/** False, and nothing written, where no ban was in force. */
function lift({ registry, engine }: AdminParts, id: string, actor: string): Promise<boolean> {
  return registry.lift(id, engine.bans, actor);
}

/** Works on the keys of a customer that are not revoked. */
async function forEachKey<T>({ registry }: AdminParts, id: string, work: (keyId: string) => Promise<T>): Promise<T[]> {
  const { id: customerId } = await registry.customers.get(id);
  const keys = (await registry.keysOf(customerId)).filter(({ status }) => status !== 'revoked');
  const done: T[] = [];
  for (let from = 0; from < keys.length; from += AT_ONCE)
    done.push(...(await Promise.all(keys.slice(from, from + AT_ONCE).map((key) => work(key.id)))));
  return done;
}

function notBanned(): AdminRefusal {
  return new AdminRefusal(404, 'not_banned', 'No ban of this key is in force.');
}
