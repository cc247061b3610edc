import { AFTER_REFUSALS } from '../../store/outbox/event.js';
import type { Ban as StoredBan } from '../../store/port.js';
import { required } from '../../accounts/fields.js';
import { isKeyId } from '../../accounts/token.js';
import { AdminRefusal } from '../answer.js';
import type { Answer } from '../answer.js';
import { newBan } from '../input/bodies.js';
import { paging } from '../input/query.js';
import { Ban, BanList, BanPage, NewBan } from '../openapi/schemas.js';
import { handler } from '../route.js';
import type { AdminParts } from '../route.js';

// Bans of keys; those of addresses end by themselves and can't be listed.

/** What is shown of a ban that nobody started by hand. */
const BY_ITSELF = { reason: AFTER_REFUSALS, actor: 'petgate' };
/** Keys looked at for one answer, and how many of them at once. */
const SCAN_COUNT = 10_000;
const BATCH_COUNT = 250;
/** Keys of a customer banned at the same time. */
const AT_ONCE = 32;

export const list = handler({
  query: paging(isKeyId),
  gives: BanPage,
  handle: async ({ parts, query: { limit, cursor } }) => {
    const bans: StoredBan[] = [];
    let next = cursor;
    for (let scanned = 0; scanned < SCAN_COUNT; scanned += BATCH_COUNT) {
      const page = await parts.registry.list({}, next, BATCH_COUNT);
      const found = await Promise.all(page.records.map(({ id }) => parts.engine.bans.read(id)));
      for (const [index, ban] of found.entries()) {
        if (ban !== undefined && bans.push(ban) === limit) return listed(bans, page.records[index]!.id);
      }
      next = page.cursor;
      if (next === null) break;
    }
    return listed(bans, next);
  },
});

function listed(bans: readonly StoredBan[], cursor: string | null): Answer {
  return { json: { bans: bans.map(viewOf), cursor } };
}

export const show = handler({
  gives: Ban,
  handle: async ({ parts, id }) => {
    const ban = await parts.engine.bans.read((await parts.registry.get(id)).id);
    if (ban === undefined) throw notBanned();
    return { json: viewOf(ban) };
  },
});

export const start = handler({
  takes: NewBan,
  gives: Ban,
  handle: async ({ parts, id, body, actor }) => {
    const { for: forMs, reason } = required(body, newBan);
    const { id: keyId } = await parts.registry.get(id);
    return { json: viewOf(await startBan(parts, keyId, (await parts.registry.nowMs()) + forMs, reason, actor)) };
  },
});

export const lift = handler({
  handle: async ({ parts, id, actor }) => {
    const { id: keyId } = await parts.registry.get(id);
    if (!(await liftBan(parts, keyId, actor))) throw notBanned();
  },
});

/**
 * All keys that a customer has at that moment. May break off half way, when the store goes away: to repeat it does no
 * harm.
 */
export const startAll = handler({
  takes: NewBan,
  gives: BanList,
  handle: async ({ parts, id, body, actor }) => {
    const { for: forMs, reason } = required(body, newBan);
    const untilMs = (await parts.registry.nowMs()) + forMs;
    const bans = await forEachKey(parts, id, (keyId) => startBan(parts, keyId, untilMs, reason, actor));
    return { json: { bans: bans.map(viewOf) } };
  },
});

export const liftAll = handler({
  handle: async ({ parts, id, actor }) => {
    const lifted = await forEachKey(parts, id, (keyId) => liftBan(parts, keyId, actor));
    if (!lifted.includes(true)) throw notBanned();
  },
});

/** Bans a key that is there, and writes it into the key's history. */
async function startBan(
  { registry, engine }: AdminParts,
  keyId: string,
  untilMs: number,
  reason: string | null,
  actor: string,
): Promise<StoredBan> {
  const note = { reason, actor };
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

export function viewOf({ keyId, untilMs, level, note }: StoredBan): object {
  const { reason, actor } = note ?? BY_ITSELF;
  return { key: keyId, until: new Date(untilMs).toISOString(), level, reason, by: actor };
}

function notBanned(): AdminRefusal {
  return new AdminRefusal(404, 'not_banned', 'No ban of this key is in force.');
}
