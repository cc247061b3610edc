import t from 'tap';
import type { Test } from 'tap';
import { openStores } from '../../src/gateway/store/embedded/owner/stores.js';
import { fill, filledStore, PLANS } from '../e2e/filled-store.js';
import { redisEngineFor } from '../conformance/redis-engine.js';
import { temporaryFolder } from '../servers/program.js';

/**
 * All that is in a filled store. Anyone who adds something says here whether it moves with `petgate store export`
 * (accounts/transfer/stored.ts) and what erasing does to it (accounts/keys/erase.ts), and raises the store's format.
 */
const MOVES = 'moves';
const COUNTED_BY_ID = 'moves, erasing leaves it';
const OF_THIS_STORE = 'is of this store alone';
const EVENTS = 'an event that is not delivered: stays, erasing takes reasons out';

const EMBEDDED: Readonly<Record<string, string>> = {
  k: MOVES,
  K: MOVES,
  h: MOVES,
  b: MOVES,
  w: 'index of corrections: made anew',
  t: COUNTED_BY_ID,
  s: COUNTED_BY_ID,
  u: COUNTED_BY_ID,
  E: EVENTS,
  e: EVENTS,
  y: EVENTS,
  d: EVENTS,
  B: 'an automatic ban that is not in its history yet: moves, once it is there',
  T: 'of which share was said that it is crossed: that is only said once it is crossed anew',
  n: 'bans for counting: made anew',
  F: OF_THIS_STORE,
  j: OF_THIS_STORE,
};
const REDIS: Readonly<Record<string, string>> = {
  '{id}:key': MOVES,
  '{id}:customer': MOVES,
  '{id}:history': MOVES,
  '{id}:usage:day': COUNTED_BY_ID,
  '{id}:events': EVENTS,
  tokens: COUNTED_BY_ID,
  keys: 'index: made anew',
  customers: 'index: made anew',
  'keys:corrected': 'index of corrections: made anew',
  'customers:corrected': 'index of corrections: made anew',
  'bans:key': 'bans for counting: made anew',
  changes: OF_THIS_STORE,
  store: OF_THIS_STORE,
};
/** Fields of the hashes of keys and customers. */
const FIELDS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      'plan',
      'name',
      'note',
      'status',
      'created',
      'expires',
      'scopes',
      'minute',
      'day',
      'month',
      'flights',
      'credited',
      'grants',
      'secrets',
    ].map((field) => [field, MOVES]),
  ),
  ...{ version: MOVES, record: MOVES, ban: MOVES, state: COUNTED_BY_ID, webhook: 'of 0.3; emptied' },
  ...{ more: 'made of grants', terms: 'made of the record', summary: 'made anew', days: 'made anew' },
  ...{ told: EVENTS, telling: EVENTS },
};

function unlisted(found: Iterable<string>, listed: Readonly<Record<string, string>>): readonly string[] {
  return [...new Set(found)].filter((name) => !Object.hasOwn(listed, name)).sort();
}

t.test('embedded: every kind of row is listed, as what an export and erasing do to it', async (t: Test) => {
  const folder = temporaryFolder(t);
  await filledStore(folder);
  const stores = openStores({ folder, mapBytes: 64 * 2 ** 20 });
  t.teardown(() => stores.close());
  const kinds = [...stores.durable.getKeys()].map((name) => name.slice(0, 1));
  t.same(unlisted(kinds, EMBEDDED), []);
  t.same(
    Object.keys(EMBEDDED).filter((kind) => EMBEDDED[kind]!.startsWith(MOVES) && !kinds.includes(kind)),
    [],
    'and the store has all that moves',
  );
});

t.test('Redis: every name and every field of keys and customers is listed', async (t: Test) => {
  const { redis: server, engine } = await redisEngineFor(t, { plans: PLANS, events: true });
  await fill(engine);
  const names = ((await server.command('KEYS', '*')) as string[]).map(String);
  const kinds = names.map((name) =>
    name
      .replace('petgate:', '')
      .replace(/^{\w{8,}}\w*/, '{id}')
      .replace(/:usage:\d+$/, ':usage:day')
      .replace(/^{\d+}:store$/, 'store')
      .replace(/^{events}:.*/, '{id}:events'),
  );
  t.same(unlisted(kinds, REDIS), []);
  const fields: string[] = [];
  for (const name of names.filter((each) => /:(key|customer)$/.test(each) && !each.includes('bans:')))
    fields.push(...((await server.command('HKEYS', name)) as string[]).map(String));
  t.same(
    unlisted(
      fields.filter((field) => !field.startsWith('tell-')),
      FIELDS,
    ),
    [],
  );
});
