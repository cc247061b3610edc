import t from 'tap';
import { until } from '../../../servers/until.js';
import { requestWith } from '../../accounts/store.js';
import { listen, type Listener } from '../../admin/listener.js';

const HOUR_MS = 3_600_000;
const inAnHour = (): string => new Date(Date.now() + HOUR_MS).toISOString();

/** A key, or a customer with one. */
async function make({ ask }: Listener, collection: 'keys' | 'customers', plan = 'free') {
  const of = (json: Readonly<Record<string, unknown>>): string => String(json['id']);
  if (collection === 'keys') {
    const { json } = await ask('POST', '/admin/v1/keys', { plan, name: 'x' });
    return { path: `/admin/v1/keys/${of(json)}`, key: String(json['key']) };
  }
  const customer = of((await ask('POST', '/admin/v1/customers', { plan, name: 'x' })).json);
  const { json } = await ask('POST', '/admin/v1/keys', { customer, name: 'x' });
  return { path: `/admin/v1/customers/${customer}`, key: String(json['key']) };
}

async function limits({ engine }: Listener, key: string): Promise<unknown> {
  const [verdict] = await engine.admit([requestWith(key, { cost: 0 })]);
  return verdict?.outcome === 'unknown_key' ? verdict.reason : verdict?.windows.map(({ limit }) => limit);
}

/** Grants 5 a minute for a moment, and sees them in force: on a busy machine the moment has to be longer. */
async function grantInForce(listener: Listener, path: string, key: string) {
  for (let lengthMs = 400; ; lengthMs *= 2) {
    const endMs = Date.now() + lengthMs;
    const { status, json } = await listener.ask('POST', `${path}/grants`, { window: 'minute', units: 5, until: endMs });
    const [minute] = (await limits(listener, key)) as number[];
    if (status === 201 && minute === 65) return { id: Number(json['id']), endMs };
    if (lengthMs > 60_000) throw new Error(`${status}, ${minute} a minute`);
  }
}

for (const collection of ['keys', 'customers'] as const) {
  t.test(`${collection}: granted, shown, in force at once, told in the history, withdrawn`, async (t) => {
    const listener = await listen(t);
    const { ask } = listener;
    const { path, key } = await make(listener, collection);
    const untilText = inAnHour();
    const made = await ask('POST', `${path}/grants`, { window: 'day', units: 500, until: untilText, note: 'launch' });
    const shown = { id: 2, window: 'day', units: 500, until: untilText, note: 'launch', by: 'admin-api' };
    t.match(made, { status: 201, json: shown });
    t.same(await limits(listener, key), [60, 1_500]);
    const second = await ask('POST', `${path}/grants`, { window: 'minute', units: 5, until: untilText });
    t.match(second, { status: 201, json: { id: 3 } });
    t.same(await limits(listener, key), [65, 1_500]);
    t.match((await ask('GET', `${path}/grants`)).json, { grants: [shown, { id: 3, window: 'minute', note: '' }] });
    t.match((await ask('GET', path)).json, { limits: null, grants: [shown, { id: 3 }] });
    const named = await ask('PATCH', path, { name: 'another' });
    t.match(named.json, { grants: [shown, { id: 3 }] }, 'another change leaves them');
    t.equal((await ask('DELETE', `${path}/grants/2`)).status, 204);
    t.match(await ask('DELETE', `${path}/grants/2`), { status: 404, json: { code: 'grant_not_found' } });
    t.same(await limits(listener, key), [65, 1_000]);
    const { history } = (await ask('GET', `${path}/history`)).json as { history: object[] };
    t.match(history.slice(1), [
      { actor: 'admin-api', action: 'granted', changed: { grant: 2, window: 'day', units: 500, note: 'launch' } },
      { action: 'granted', changed: { grant: 3, window: 'minute', units: 5, until: untilText } },
      { action: 'changed' },
      { action: 'withdrawn', changed: { grant: 2, window: 'day', units: 500 } },
    ]);
  });

  t.test(`${collection}: it ends without anybody doing anything, and the next change forgets it`, async (t) => {
    const listener = await listen(t);
    const { ask } = listener;
    const { path, key } = await make(listener, collection);
    const { endMs, id: brief } = await grantInForce(listener, path, key);
    await until('it has ended', () => Date.now() >= endMs);
    t.same(await limits(listener, key), [60, 1_000]);
    t.same((await ask('GET', `${path}/grants`)).json, { grants: [] });
    t.match((await ask('GET', path)).json['grants'], []);
    const next = await ask('POST', `${path}/grants`, { window: 'day', units: 1, until: inAnHour() });
    t.equal(next.json['id'], brief + 1);
    const id = path.split('/').at(-1)!;
    const { keys, customers } = listener.engine;
    t.equal((await (collection === 'keys' ? keys : customers).read(id))?.grants?.length, 1);
  });

  t.test(`${collection}: what is wrong is told at once, and nothing is done`, async (t) => {
    const listener = await listen(t);
    const { ask } = listener;
    const { path } = await make(listener, collection);
    const good = { window: 'day', units: 5, until: inAnHour() };
    for (const [body, ...words] of [
      [{}, 'window: must be one of minute, day, month', 'units: must be', 'until: must be a date'],
      [{ ...good, window: 'hour', extra: 1 }, 'window: must be one of', 'unknown field "extra"'],
      [{ ...good, units: 0 }, 'units: must be a whole number from 1 to 100000000'],
      [{ ...good, units: '5' }, 'units: must be a whole number'],
      [{ ...good, until: '2020-01-01' }, 'until: must lie in the future'],
      [{ ...good, until: 'tomorrow' }, 'until: must be a date'],
      [{ ...good, note: 'ptg_staging_x' }, 'note: must not contain a key'],
      [{ ...good, window: 'month' }, 'plan "free" counts no month'],
      [{ ...good, units: 99_999_500 }, 'grant at most 99999000'],
    ] as const) {
      const reply = await ask('POST', `${path}/grants`, body);
      t.match(reply, { status: 400, json: { code: 'invalid_fields' } }, JSON.stringify(body));
      for (const word of words) t.match(reply.json['message'], word);
    }
    await ask('PATCH', path, { plan: 'enterprise', limits: { minute: 'unlimited', day: 5 } });
    const unlimited = await ask('POST', `${path}/grants`, { ...good, window: 'minute' });
    t.match(unlimited.json['message'], 'the minute is unlimited on plan "enterprise": there is nothing to add');
    for (let n = 0; n < 16; n += 1) t.equal((await ask('POST', `${path}/grants`, good)).status, 201);
    t.match(await ask('POST', `${path}/grants`, good), { status: 409, json: { message: '16 grants are in force' } });
    t.equal((await ask('DELETE', path)).status, 204);
    t.match(await ask('POST', `${path}/grants`, good), { status: 409, json: { message: 'and that is final' } });
    const nobody = path.replace(/\w+$/, collection === 'keys' ? 'nobodynobody' : 'nobody00');
    t.equal((await ask('POST', `${nobody}/grants`, good)).status, 404);
    t.equal((await ask('GET', `${nobody}/grants`)).status, 404);
  });
}

t.test("a customer's key shows what its customer is granted, and has none of its own", async (t) => {
  const { ask } = await listen(t);
  const customer = String((await ask('POST', '/admin/v1/customers', { plan: 'free', name: 'x' })).json['id']);
  const id = String((await ask('POST', '/admin/v1/keys', { customer, name: 'x' })).json['id']);
  const grant = { window: 'day', units: 5, until: inAnHour() };
  const refused = await ask('POST', `/admin/v1/keys/${id}/grants`, grant);
  t.match(refused, { status: 409, json: { message: `petgate customers grant ${customer}` } });
  await ask('POST', `/admin/v1/customers/${customer}/grants`, grant);
  t.match((await ask('GET', `/admin/v1/keys/${id}`)).json, { grants: [{ window: 'day', units: 5 }] });
  t.match((await ask('GET', `/admin/v1/keys/${id}/grants`)).json, { grants: [{ units: 5 }] });
  t.match(await ask('DELETE', `/admin/v1/keys/${id}/grants/2`), { status: 409 });
});
