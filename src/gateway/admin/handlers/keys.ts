import { eraseKey } from '../../accounts/erase.js';
import { required } from '../../accounts/fields.js';
import { isKeyId } from '../../accounts/token.js';
import type { KeyRecord } from '../../store/records/key.js';
import type { Answer } from '../answer.js';
import { ofCustomer, ofKeys, paging } from '../input/query.js';
import { IssuedKey, Key, KeyChange, KeyPage, NewKey, Rotation } from '../openapi/schemas.js';
import { route, type AdminParts, type Route } from '../route.js';
import { accountRoutes } from './accounts.js';
import { exportOfKey } from './export.js';
import { keyView } from './views.js';

const KEYS = '/admin/v1/keys';

export const KEY_ROUTES: readonly Route[] = [
  route(`GET ${KEYS}`, 'read', 'Lists keys by id, page by page', {
    query: { ...paging(isKeyId), ...ofKeys, ...ofCustomer },
    gives: KeyPage,
    handle: async ({ parts: { registry }, query: { limit, cursor: after, name, ...filter } }) => {
      const prefix = name === undefined ? {} : { namePrefix: name };
      const { records, cursor } = await registry.list({ ...filter, ...prefix }, after, limit);
      const nowMs = await registry.nowMs();
      return { json: { keys: records.map((record) => keyView(record, nowMs)), cursor } };
    },
  }),
  route(`POST ${KEYS}`, 'keys', 'Creates a key; the answer shows the token, once', {
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
    view: keyView,
    end: async ({ registry }, id, actor) => {
      await registry.revoke(id, actor);
    },
    exported: exportOfKey,
    erase: eraseKey,
  }),
  route(`POST ${KEYS}/{id}/rotate`, 'keys', 'Gives a key a new secret, shown once', {
    takes: Rotation,
    gives: IssuedKey,
    handle: async ({ parts, id, body, actor }) =>
      issued(parts, await parts.registry.rotate(id, required(body, Rotation.shape).overlap, actor)),
  }),
];

async function issued(
  { registry }: AdminParts,
  { record, token }: { readonly record: KeyRecord; readonly token: string },
): Promise<Answer> {
  return { json: { key: token, ...keyView(await registry.asItHolds(record), await registry.nowMs()) } };
}
