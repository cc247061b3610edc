import { eraseKey } from '../../accounts/erase.js';
import { required } from '../../accounts/fields.js';
import { isKeyId } from '../../accounts/token.js';
import type { Ban, KeyRecord } from '../../store/records/key.js';
import type { Answer } from '../answer.js';
import { listed, listing, ofCustomer, ofKeys } from '../input/query.js';
import { IssuedKey, Key, KeyChange, KeyPage, NewKey, Rotation } from '../openapi/schemas.js';
import { route, type AdminParts, type Route } from '../route.js';
import { accountRoutes } from './accounts.js';
import { exportOfKey } from './export.js';
import { keyView, keyViews } from './views.js';

const KEYS = '/admin/v1/keys';

export const KEY_ROUTES: readonly Route[] = [
  route(`GET ${KEYS}`, 'read', 'Lists keys by id or by age, page by page', {
    query: { ...listing(isKeyId), ...ofKeys, ...ofCustomer },
    gives: KeyPage,
    handle: async ({ parts, query }) => {
      const { records, cursor } = await listed(parts.registry, query);
      return { json: { keys: await keyViews(parts, records), cursor } };
    },
  }),
  route(`POST ${KEYS}`, 'keys', 'Creates a key; only this response shows the token', {
    takes: NewKey,
    status: 201,
    gives: IssuedKey,
    handle: async ({ parts, body, actor }) => issued(parts, await parts.registry.create(body, actor)),
  }),
  ...accountRoutes<KeyRecord>({
    name: 'key',
    path: `${KEYS}/{id}`,
    reader: 'read',
    registry: ({ registry }) => registry,
    takes: KeyChange,
    gives: Key,
    view: async (parts, record) => (await keyViews(parts, [record]))[0]!,
    end: async ({ registry }, id, actor) => {
      await registry.revoke(id, actor);
    },
    exported: exportOfKey,
    erase: eraseKey,
  }),
  route(`POST ${KEYS}/{id}/rotate`, 'keys', 'Gives a key a new secret, shown once', {
    takes: Rotation,
    gives: IssuedKey,
    handle: async ({ parts, id, body, actor }) => {
      const { overlap } = required(body, Rotation.shape);
      // Before the secret is made, which is shown this once: the less can fail behind it.
      const ban = await parts.engine.bans.read((await parts.registry.get(id)).id);
      return issued(parts, await parts.registry.rotate(id, overlap, actor), ban);
    },
  }),
];

async function issued(
  { registry }: AdminParts,
  { record, token }: { readonly record: KeyRecord; readonly token: string },
  ban?: Ban,
): Promise<Answer> {
  const [key, nowMs] = [await registry.asItHolds(record), await registry.nowMs()];
  return { json: { key: token, ...keyView(registry, key, ban, nowMs) } };
}
