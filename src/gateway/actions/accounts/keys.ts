import { eraseKey } from '../../accounts/keys/erase.js';
import { required } from '../../accounts/fields.js';
import { isCustomerId, isKeyId } from '../../accounts/token.js';
import type { Ban, KeyRecord } from '../../store/records/key.js';
import type { Answer } from '../answer.js';
import { listed, listing, nearLimit, ofCustomer, ofKeys } from '../input/query.js';
import { IssuedKey, Key, KeyChange, KeyPage, NewKey, Rotation } from '../schemas.js';
import { action, type AdminParts, type Action } from '../action.js';
import { dayIn, type Json } from '../command.js';
import { accountActions, statusForms } from './common.js';
import { exportOfKey } from './export.js';
import { listNearLimit } from './near-limit.js';
import { keyView, keyViews } from './views.js';

const KEYS = '/admin/v1/keys';
const KEY_EXAMPLE = '5BkxuKZHANEf';

export const KEY_ACTIONS: readonly Action[] = [
  action(`GET ${KEYS}`, 'read', 'List keys, by ID or by age', {
    commands: {
      usage: 'keys list',
      example: '--plan free --limit 20',
      prints: {
        list: 'keys',
        columns: ['id', 'name', 'plan', ['state', stateIn], dayIn('created'), dayIn('expires')],
        none: 'No keys.',
      },
    },
    query: { ...listing(isKeyId), ...ofKeys, ...ofCustomer, ...nearLimit },
    gives: KeyPage,
    handle: async ({ parts, query: { used, ...query } }) => {
      const read = (cursor: string | null, limit: number) => listed(parts.registry, { ...query, cursor, limit });
      const { records, cursor } =
        used === undefined
          ? await read(query.cursor, query.limit)
          : await listNearLimit(parts.engine, read, query.cursor, query.limit, used);
      return { json: { keys: await keyViews(parts, records), cursor } };
    },
  }),
  action(`POST ${KEYS}`, 'keys', 'Create a key; its token is shown only once', {
    commands: {
      usage: 'keys create',
      example: '--plan pro --name "My app" --expires 2027-06-30',
      prints: { issued: 'Key created.' },
    },
    issues: 'key',
    takes: NewKey,
    status: 201,
    gives: IssuedKey,
    handle: async ({ parts, body, actor }) => issued(parts, await parts.registry.create(body, actor)),
  }),
  ...accountActions<KeyRecord>({
    name: 'key',
    example: KEY_EXAMPLE,
    change: {
      commands: [
        { usage: 'keys change <id>', example: `${KEY_EXAMPLE} --plan business` },
        ...(['enable', 'disable'] as const).map((word) => ({
          usage: `keys ${word} <id>`,
          example: KEY_EXAMPLE,
          about: `${word} a key`,
          sends: { status: `${word}d` },
          prints: { done: `Key {id} is ${word}d.` },
        })),
      ],
      forms: [
        ...statusForms(
          '/keys/{id}',
          { button: 'Disable', done: 'Disabled: it is refused from the next request on.' },
          'Enabled: it may be used from the next request on.',
        ),
        ...[
          ['name', 'plan', 'limits', 'note'],
          ['name', 'note'],
        ].map((fields, n) => ({
          on: '/keys/{id}',
          name: 'changed',
          button: 'Change',
          opens: 'Change',
          fields,
          // Plan and limits of a customer's key are the customer's.
          isFor: (key: Json) => isAlive(key) && (key['customer'] === null) === (n === 0),
          done: 'Changed. It applies from the next request.',
        })),
      ],
    },
    end: {
      word: 'revoke',
      form: { name: 'revoked', button: 'Revoke permanently', opens: 'Revoke', done: 'Revoked permanently.' },
      ended: 'Key {id} is revoked.',
      erased: 'Name and notes of key {id} are erased.',
    },
    hasEnded: (key) => !isAlive(key),
    isId: (text) => !isCustomerId(text),
    path: `${KEYS}/{id}`,
    reader: 'read',
    registry: ({ registry }) => registry,
    takes: KeyChange,
    gives: Key,
    view: async (parts, record) => (await keyViews(parts, [record]))[0]!,
    close: ({ registry }, id, actor) => registry.revoke(id, actor),
    exported: exportOfKey,
    erase: eraseKey,
  }),
  action(`POST ${KEYS}/{id}/rotate`, 'keys', 'Give a key a new secret; the old one stays valid for the overlap', {
    commands: {
      usage: 'keys rotate <id>',
      example: `${KEY_EXAMPLE} --overlap 24h`,
      prints: { issued: 'New secret made.', note: olderSecrets },
    },
    issues: 'key',
    forms: [
      { name: 'rotated', button: 'Replace (old secret works 24 h)', sends: { overlap: '24h' } },
      { name: 'leaked', button: 'Leaked: end the old secret now', sends: { overlap: '0s' }, isDanger: true as const },
    ].map((form) => ({ on: '/keys/{id}', opens: 'New secret', isFor: isAlive, ...form })),
    takes: Rotation,
    gives: IssuedKey,
    handle: async ({ parts, id, body, actor }) => {
      const { overlap } = required(body, Rotation.shape);
      // Read before the secret is created: after that, nothing may fail, because it is shown only once.
      const ban = await parts.engine.bans.read((await parts.registry.get(id)).id);
      return issued(parts, await parts.registry.rotate(id, overlap, actor), ban);
    },
  }),
];

function isAlive({ status }: Json): boolean {
  return status !== 'revoked';
}

/** Returns the state, for a ban with its end. */
function stateIn({ state, ban }: Json): string {
  return state === 'banned' ? `banned until ${String((ban as Json)['until'])}` : String(state).replace('_', ' ');
}

/** Says how long the previous secrets stay valid: all but the first. */
function olderSecrets({ secrets }: Json): string {
  const ends = (secrets as readonly Json[]).slice(1).map((secret) => String(secret['ends']));
  return ends.length === 0
    ? 'No other secret is valid any more.'
    : `The previous secret is valid until ${ends.join(', the one before it until ')}.`;
}

async function issued(
  { registry }: AdminParts,
  { record, token }: { readonly record: KeyRecord; readonly token: string },
  ban?: Ban,
): Promise<Answer> {
  const [key, nowMs] = [await registry.effective(record), await registry.nowMs()];
  return { json: { key: token, ...keyView(registry.plans(), key, ban, nowMs) } };
}
