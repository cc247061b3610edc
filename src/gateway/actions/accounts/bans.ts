import { required } from '../../accounts/fields.js';
import { AdminRefusal } from '../answer.js';
import { banPaging, storeCursor, textCursor } from '../input/query.js';
import { Ban, BanList, BanPage, NewBan } from '../schemas.js';
import { action, type AdminParts, type Action } from '../action.js';
import { isAddress } from './address-bans.js';
import { banView } from './views.js';

/** Keys of a customer that are banned concurrently. */
const AT_ONCE = 32;

const COLUMNS = ['key', 'until', 'level', 'by', 'reason'];

const LIFTED = 'The ban is lifted, and what led to it forgotten.';
const BAN_FORM = {
  name: 'banned',
  button: 'Ban',
  opens: 'Ban',
  isDanger: true,
  initial: { for: '1h' },
  done: 'Banned: refused from the next request on.',
} as const;

const BANS = '/admin/v1/bans';
const OF_CUSTOMER = '/admin/v1/customers/{id}/bans';

/** Bans of keys. Bans of addresses are in address-bans.ts. */
export const BAN_ACTIONS: readonly Action[] = [
  action(`GET ${BANS}`, 'read', 'List the bans of keys in force', {
    commands: { usage: 'bans list', example: '--json', prints: { list: 'bans', columns: COLUMNS, none: 'No bans.' } },
    query: banPaging,
    gives: BanPage,
    handle: async ({ parts: { engine }, query: { limit, cursor } }) => {
      const page = await engine.bans.keys(storeCursor(cursor), limit);
      return { json: { bans: page.bans.map(banView), cursor: textCursor(page.cursor) } };
    },
  }),
  action(`GET ${BANS}/{id}`, 'read', 'Show the ban of one key', {
    gives: Ban,
    handle: async ({ parts, id }) => {
      const ban = await parts.engine.bans.read((await parts.registry.get(id)).id);
      if (ban === undefined) throw notBanned();
      return { json: banView(ban) };
    },
  }),
  action(`PUT ${BANS}/{id}`, 'keys', 'Ban a key from now on', {
    commands: { usage: 'bans start <id>', example: '5BkxuKZHANEf --for 1h --reason "scrapes the catalogue"' },
    forms: [
      { on: '/keys/{id}', ...BAN_FORM, isFor: ({ status, ban }) => status !== 'revoked' && ban === null },
      { on: '/bans', ...BAN_FORM, opens: 'Ban a key', isApart: true },
    ],
    takes: NewBan,
    gives: Ban,
    handle: async ({ parts: { registry }, id, body, actor }) => {
      const { for: forMs, reason } = required(body, NewBan.shape);
      return { json: banView(await registry.ban(id, forMs, reason, actor)) };
    },
  }),
  action(`DELETE ${BANS}/{id}`, 'keys', 'Lift the ban of a key, and forget what led to it', {
    commands: {
      usage: 'bans lift <id>',
      example: '5BkxuKZHANEf',
      when: ({ id = '' }) => !isAddress(id),
      prints: { done: 'The ban of key {id} is lifted.' },
    },
    forms: [
      { on: '/keys/{id}', name: 'lifted', button: 'Lift the ban', isFor: ({ ban }) => ban !== null, done: LIFTED },
      { on: '/bans', name: 'lifted', button: 'Lift', isApart: true, done: LIFTED },
    ],
    handle: async ({ parts, id, actor }) => {
      if (!(await parts.registry.lift(id, parts.engine.bans, actor))) throw notBanned();
    },
  }),
  // Both can stop halfway if the store becomes unavailable; repeating them is safe.
  action(`PUT ${OF_CUSTOMER}`, 'keys', 'Ban every key of a customer that is not revoked', {
    commands: {
      usage: 'bans start --customer <id>',
      example: '--customer Ab3dE6gH --for 1h',
      prints: {
        list: 'bans',
        columns: COLUMNS,
        none: ({ customer = '' }) => `Customer ${customer} has no keys to ban.`,
      },
    },
    forms: { on: '/customers/{id}', ...BAN_FORM, isFor: ({ status }) => status !== 'closed' },
    takes: NewBan,
    gives: BanList,
    handle: async ({ parts, id, body, actor }) => {
      const { for: forMs, reason } = required(body, NewBan.shape);
      const bans = await forEachKey(parts, id, (keyId) => parts.registry.ban(keyId, forMs, reason, actor));
      return { json: { bans: bans.map(banView) } };
    },
  }),
  action(`DELETE ${OF_CUSTOMER}`, 'keys', 'Lift the bans of all keys of a customer', {
    commands: {
      usage: 'bans lift --customer <id>',
      example: '--customer Ab3dE6gH',
      prints: { done: 'The bans of customer {customer} are lifted.' },
    },
    forms: {
      on: '/customers/{id}',
      name: 'lifted',
      button: 'Lift the bans of its keys',
      isFor: ({ status }) => status !== 'closed',
      done: 'The bans are lifted, and what led to them forgotten.',
    },
    handle: async ({ parts, id, actor }) => {
      const lifted = await forEachKey(parts, id, (keyId) => parts.registry.lift(keyId, parts.engine.bans, actor));
      if (!lifted.includes(true)) throw notBanned();
    },
  }),
];

/** Calls `work` for each key of a customer that is not revoked. */
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
