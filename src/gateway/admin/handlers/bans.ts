import { required, type Body } from '../../accounts/fields.js';
import { isKeyId } from '../../accounts/token.js';
import type { Ban as StoredBan } from '../../store/port.js';
import { AdminRefusal, type Answer } from '../answer.js';
import { paging } from '../input/query.js';
import { Ban, BanList, BanPage, NewBan } from '../openapi/schemas.js';
import { route, type AdminParts, type Route } from '../route.js';
import { banView } from './views.js';

/** Keys looked at for one answer, and how many of them at once. */
const SCAN_COUNT = 10_000;
const BATCH_COUNT = 250;
/** Keys of a customer banned at the same time. */
const AT_ONCE = 32;

const BANS = '/admin/v1/bans';
const OF_CUSTOMER = '/admin/v1/customers/{id}/bans';

/** Bans of keys; those of addresses are in address-bans.ts. */
export const BAN_ROUTES: readonly Route[] = [
  route(`GET ${BANS}`, 'read', 'Bans of keys in force', {
    query: paging(isKeyId),
    gives: BanPage,
    handle: ({ parts, query: { limit, cursor } }) => list(parts, limit, cursor),
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
    handle: async ({ parts, id, body, actor }) => {
      const ban = await readBan(parts, body, actor);
      return { json: banView(await startBan(parts, (await parts.registry.get(id)).id, ban)) };
    },
  }),
  route(`DELETE ${BANS}/{id}`, 'keys', 'Lifts a ban, and forgets what led to it', {
    handle: async ({ parts, id, actor }) => {
      if (!(await liftBan(parts, (await parts.registry.get(id)).id, actor))) throw notBanned();
    },
  }),
  // Both may break off half way, when the store goes away: to repeat it does no harm.
  route(`PUT ${OF_CUSTOMER}`, 'keys', 'Bans every key of a customer that is not revoked', {
    takes: NewBan,
    gives: BanList,
    handle: async ({ parts, id, body, actor }) => {
      const ban = await readBan(parts, body, actor);
      const bans = await forEachKey(parts, id, (keyId) => startBan(parts, keyId, ban));
      return { json: { bans: bans.map(banView) } };
    },
  }),
  route(`DELETE ${OF_CUSTOMER}`, 'keys', 'Lifts the bans of all keys of a customer', {
    handle: async ({ parts, id, actor }) => {
      const lifted = await forEachKey(parts, id, (keyId) => liftBan(parts, keyId, actor));
      if (!lifted.includes(true)) throw notBanned();
    },
  }),
];

async function list({ registry, engine }: AdminParts, limit: number, after: string | null): Promise<Answer> {
  const bans: StoredBan[] = [];
  let cursor = after;
  for (let scanned = 0; scanned < SCAN_COUNT; scanned += BATCH_COUNT) {
    const page = await registry.list({}, cursor, BATCH_COUNT);
    const found = await Promise.all(page.records.map(({ id }) => engine.bans.read(id)));
    for (const [index, ban] of found.entries())
      if (ban !== undefined && bans.push(ban) === limit)
        return { json: { bans: bans.map(banView), cursor: page.records[index]!.id } };
    ({ cursor } = page);
    if (cursor === null) break;
  }
  return { json: { bans: bans.map(banView), cursor } };
}

type NewBanOf = Pick<StoredBan, 'untilMs'> & { readonly note: NonNullable<StoredBan['note']> };

async function readBan({ registry }: AdminParts, body: Body, actor: string): Promise<NewBanOf> {
  const { for: forMs, reason } = required(body, NewBan.shape);
  return { untilMs: (await registry.nowMs()) + forMs, note: { reason, actor } };
}

/** Bans a key that is there, and writes it into the key's history. */
async function startBan(
  { registry, engine }: AdminParts,
  keyId: string,
  { untilMs, note }: NewBanOf,
): Promise<StoredBan> {
  const { reason, actor } = note;
  const event = await registry.eventOfBan(await registry.get(keyId), untilMs, reason);
  await engine.bans.start(keyId, untilMs, note, event);
  const until = new Date(untilMs).toISOString();
  await registry.note(keyId, 'banned', { until, ...(reason === null ? {} : { reason }) }, actor);
  return { keyId, untilMs, level: 1, note };
}

/** False, and nothing written, where no ban was in force. */
async function liftBan({ registry, engine }: AdminParts, keyId: string, actor: string): Promise<boolean> {
  const isLifted = await engine.bans.lift(keyId);
  if (isLifted) await registry.note(keyId, 'lifted', {}, actor);
  return isLifted;
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
