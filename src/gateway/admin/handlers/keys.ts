import { isoOrNull } from '../../accounts/edits.js';
import { required } from '../../accounts/fields.js';
import { isKeyId } from '../../accounts/token.js';
import { customerOf } from '../../store/records/customer-id.js';
import type { KeyRecord } from '../../store/records/key.js';
import type { AuditEntry } from '../../store/records/record.js';
import { ofCustomer, ofKeys, paging } from '../input/query.js';
import { rotation } from '../input/bodies.js';
import { History, IssuedKey, Key, KeyChange, KeyPage, NewKey, Rotation } from '../openapi/schemas.js';
import { handler } from '../route.js';
import type { AdminParts } from '../route.js';
import { grantsView } from './grants.js';

export const list = handler({
  query: { ...paging(isKeyId), ...ofKeys, ...ofCustomer },
  gives: KeyPage,
  handle: async ({ parts: { registry }, query: { limit, cursor, name: namePrefix, ...filter } }) => {
    const page = await registry.list({ ...filter, ...(namePrefix === undefined ? {} : { namePrefix }) }, cursor, limit);
    const nowMs = await registry.nowMs();
    return { json: { keys: page.records.map((record) => viewOf(record, nowMs)), cursor: page.cursor } };
  },
});

export const create = handler({
  takes: NewKey,
  status: 201,
  gives: IssuedKey,
  handle: async ({ parts, body, actor }) => {
    const { record, token } = await parts.registry.create(body, actor);
    return { json: { key: token, ...(await shown(parts, record)) } };
  },
});

export const show = handler({
  gives: Key,
  handle: async ({ parts, id }) => ({ json: await shown(parts, await parts.registry.get(id)) }),
});

export const change = handler({
  takes: KeyChange,
  gives: Key,
  handle: async ({ parts, id, body, actor }) => ({
    json: await shown(parts, await parts.registry.change(id, body, actor)),
  }),
});

export const revoke = handler({
  handle: async ({ parts, id, actor }) => {
    await parts.registry.revoke(id, actor);
  },
});

export const rotate = handler({
  takes: Rotation,
  gives: IssuedKey,
  handle: async ({ parts, id, body, actor }) => {
    const { record, token } = await parts.registry.rotate(id, required(body, rotation).overlap, actor);
    return { json: { key: token, ...(await shown(parts, record)) } };
  },
});

export const history = handler({
  gives: History,
  handle: async ({ parts, id }) => ({ json: { history: (await parts.registry.history(id)).map(entryView) } }),
});

async function shown({ registry }: AdminParts, record: KeyRecord): Promise<object> {
  return viewOf(await registry.asItHolds(record), await registry.nowMs());
}

/**
 * A key as operators see it, with plan, limits and grants as they hold: never a secret nor a hash, only when each
 * secret ends.
 */
export function viewOf(record: KeyRecord, nowMs: number): object {
  const { id, name, plan, status, limits, grants, scopes, note, createdAtMs, expiresAtMs } = record;
  const secrets = record.secrets.map(({ endsAtMs }) => ({ ends: isoOrNull(endsAtMs) }));
  return {
    ...{ id, name, customer: customerOf(id), plan, status, limits, grants: grantsView(grants, nowMs), scopes, note },
    ...{ created: isoOrNull(createdAtMs), expires: isoOrNull(expiresAtMs), secrets },
  };
}

export function entryView({ atMs, actor, action, changed }: AuditEntry): object {
  return { at: isoOrNull(atMs), actor: actor ?? null, action, changed };
}
