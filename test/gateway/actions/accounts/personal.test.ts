import t from 'tap';
import { parseToken } from '../../../../src/gateway/accounts/token.js';
import { DAY_MS, dayOf } from '../../../../src/shared/utc-day.js';
import { keyRecord } from '../../admission/key-record.js';
import { requestWith } from '../../accounts/store.js';
import { ADMIN_TOKEN, bearer, listen, type Listener } from '../../admin/listener.js';

type Json = Readonly<Record<string, unknown>>;

const RECORD = keyRecord('longAgo00000');

async function use({ engine }: Listener, token: unknown, times: number): Promise<void> {
  for (let n = 0; n < times; n += 1) await engine.admit([requestWith(token, { cost: 2 })]);
}

/** A customer with two keys of which one is used, and a key of nobody: all named after Ada. */
async function people(listener: Listener): Promise<{ customer: string; keys: readonly Json[]; lone: Json }> {
  const { ask } = listener;
  const of = { name: 'Ada & Sons', note: 'Ada pays late' };
  const { json } = await ask('POST', '/admin/v1/customers', { ...of, plan: 'free', reference: 'ADA-1' });
  const customer = String(json['id']);
  const keys: Json[] = [];
  for (const name of ['Ada web', 'Ada batch'])
    keys.push((await ask('POST', '/admin/v1/keys', { customer, name })).json);
  const lone = (await ask('POST', '/admin/v1/keys', { ...of, plan: 'free' })).json;
  await use(listener, keys[0]!['key'], 3);
  await use(listener, lone['key'], 2);
  const untilText = new Date(Date.now() + 3_600_000).toISOString();
  const grant = { window: 'day', units: 5, until: untilText, note: 'Ada asked' };
  await ask('POST', `/admin/v1/keys/${String(lone['id'])}/grants`, grant);
  await ask('POST', `/admin/v1/customers/${customer}/grants`, grant);
  await ask('PUT', `/admin/v1/bans/${String(lone['id'])}`, { for: '1h', reason: 'Ada wants it' });
  return { customer, keys, lone };
}

t.test('a key is exported whole, without its secrets', async (t) => {
  const listener = await listen(t, {}, { emitsEvents: true });
  const { lone } = await people(listener);
  const { status, json, text, headers } = await listener.ask('GET', `/admin/v1/keys/${String(lone['id'])}/export`);
  t.equal(status, 200);
  t.match(headers['content-type'], 'application/json');
  t.same(Object.keys(json), ['exported', 'key', 'history', 'ban', 'events', 'usage']);
  t.match(json, {
    key: { id: lone['id'], name: 'Ada & Sons', note: 'Ada pays late', grants: [{ note: 'Ada asked' }] },
    history: [{ action: 'created' }, { action: 'granted' }, { action: 'banned' }],
    ban: { reason: 'Ada wants it' },
    events: [{ type: 'petgate.key.created' }, { type: 'petgate.key.changed', data: { changed: ['grants'] } }],
    usage: [{ plan: 'free', operation: 'listPets', requests: 2, units: 4 }],
  });
  const { secretHash } = parseToken(String(lone['key']), 'staging', false)!;
  t.notMatch(text, secretHash);
  t.notMatch(text, String(lone['key']));
});

t.test('a customer is exported with all its keys', async (t) => {
  const listener = await listen(t, {}, { emitsEvents: true });
  const { customer, keys } = await people(listener);
  const { json } = await listener.ask('GET', `/admin/v1/customers/${customer}/export`);
  t.match(json, {
    customer: { id: customer, name: 'Ada & Sons', reference: 'ADA-1', grants: [{ note: 'Ada asked' }] },
    history: [{ action: 'created' }, { action: 'granted' }],
  });
  const its = json['keys'] as readonly Json[];
  t.same(
    its.map(({ key }) => (key as Json)['id']),
    keys.map(({ id }) => String(id)).sort(),
  );
  const used = its.find(({ key }) => (key as Json)['id'] === keys[0]!['id']);
  t.match(used, { events: [{ type: 'petgate.key.created' }], usage: [{ requests: 3, units: 6 }], ban: null });
});

t.test('usage comes from store and archive, from the day on which the key came', async (t) => {
  const asked: string[] = [];
  const listener = await listen(t, {
    report: async function* (_format, { from, to, by, key }) {
      asked.push([from, to, by.join(), key].join(' '));
      yield await Promise.resolve(Buffer.from(`{"rows":[{"from":"${from}"}]}`));
    },
  });
  const atMs = Date.now() - 1_500 * DAY_MS;
  const record = { ...RECORD, createdAtMs: Date.now() };
  await listener.engine.keys.write(record, { atMs, action: 'imported', changed: {} });
  const { json } = await listener.ask('GET', `/admin/v1/keys/${RECORD.id}/export`);
  const [first, last, second, today] = [atMs, atMs + 999 * DAY_MS, atMs + 1_000 * DAY_MS, Date.now()].map(dayOf);
  t.same(asked, [
    `${first} ${last} day,plan,operation ${RECORD.id}`,
    `${second} ${today} day,plan,operation ${RECORD.id}`,
  ]);
  t.same(json['usage'], [{ from: first }, { from: second }]);
});

for (const [collection, end] of [
  ['keys', 'petgate keys revoke'],
  ['customers', 'petgate customers close'],
] as const) {
  t.test(`${collection}: erased only when it is over, and then no export has a name`, async (t) => {
    const listener = await listen(t);
    const { ask } = listener;
    const { customer, keys, lone } = await people(listener);
    const ids = collection === 'keys' ? [lone['id']] : [customer, ...keys.map(({ id }) => id)];
    const path = `/admin/v1/${collection}/${String(ids[0])}`;
    const early = await ask('POST', `${path}/erase`);
    t.match(early, { status: 409, json: { message: `first ${end}` } });
    t.match((await ask('GET', path)).json, { name: 'Ada & Sons' }, 'nothing was done');
    await ask('DELETE', path);
    const actor = bearer(ADMIN_TOKEN, 'privacy');
    t.equal((await ask('POST', `${path}/erase`, undefined, actor)).status, 204);
    t.equal((await ask('POST', `${path}/erase`, undefined, actor)).status, 204, 'again does no harm');
    const exported = (await ask('GET', `${path}/export`)).text;
    t.notMatch(exported, /Ada |ADA-1/);
    t.match(exported, /"requests":[23]/, 'what was counted stays');
    const { history } = (await ask('GET', `${path}/history`)).json as { history: Json[] };
    t.match(history.at(-1), { action: 'erased', actor: 'privacy' });
    t.match(history[0], { action: 'created', changed: { name: null, note: null } });
    const nobody = path.replace(/\w+$/, collection === 'keys' ? 'nobodynobody' : 'nobody00');
    t.equal((await ask('POST', `${nobody}/erase`)).status, 404);
    t.equal((await ask('GET', `${nobody}/export`)).status, 404);
  });
}
