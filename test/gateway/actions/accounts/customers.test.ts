import t from 'tap';
import { judge } from '../../accounts/store.js';
import { listen, walk, type Listener } from '../../admin/listener.js';

const PATH = '/admin/v1/customers';

async function create({ ask }: Listener, more: object = {}) {
  const { status, json } = await ask('POST', PATH, { name: 'Big shop', plan: 'free', ...more });
  if (status !== 201) throw new Error(JSON.stringify(json));
  return { id: String(json['id']), path: `${PATH}/${String(json['id'])}` };
}

/** The outcome of a request of cost 1. */
function outcome({ engine }: Listener, token: unknown): Promise<string> {
  return judge(engine, token, Date.now(), null, 1);
}

t.test('a customer is made, shown, listed, changed and closed, and all of it is in its history', async (t) => {
  const listener = await listen(t);
  const { ask } = listener;
  const made = await ask('POST', PATH, { name: 'Big shop', plan: 'pro', reference: 'C-1042', note: 'net 30' });
  t.match(made, {
    status: 201,
    json: { id: /^[0-9A-Za-z]{8}$/, status: 'enabled', limits: null, reference: 'C-1042' },
  });
  const path = `${PATH}/${String(made.json['id'])}`;
  t.same((await ask('GET', path)).json, made.json);
  t.same((await ask('GET', PATH)).json, { customers: [made.json], cursor: null });
  const limits = { minute: 7, day: 'unlimited', month: 99 };
  const changed = await ask('PATCH', path, { plan: 'enterprise', limits });
  t.match(changed, { status: 200, json: { plan: 'enterprise', limits } });
  t.match(await ask('PATCH', path, { plan: 'enterprise' }), { status: 200, json: { limits } }, 'nothing to change');
  t.same([(await ask('DELETE', path)).status, (await ask('DELETE', path)).status], [204, 204]);
  t.match(await ask('PATCH', path, { name: 'x' }), { status: 409, json: { message: /closed, and that is final/ } });
  const { history } = (await ask('GET', `${path}/history`)).json as { history: { action: string; changed: object }[] };
  t.same(
    history.map(({ action }) => action),
    ['created', 'changed', 'closed'],
  );
  t.match(history[1]?.changed, { plan: { from: 'pro', to: 'enterprise' }, limits: { from: null, to: limits } });
});

t.test('customers are listed page by page, each once', async (t) => {
  const listener = await listen(t);
  const made: string[] = [];
  for (let n = 0; n < 5; n += 1) made.push((await create(listener)).id);
  const seen = await walk(listener, `${PATH}?limit=2`, 'customers');
  t.same(
    seen.map(({ id }) => id),
    made.sort(),
  );
});

t.test('those of one reference are listed alone', async (t) => {
  const listener = await listen(t);
  const made: { readonly id: string }[] = [];
  for (const reference of ['C-1', 'C-10', 'C-1', '', 'c-1']) made.push(await create(listener, { reference }));
  const listed = async (query: string): Promise<readonly unknown[]> => {
    const { status, json } = await listener.ask('GET', `${PATH}?${query}`);
    t.equal(status, 200);
    return [(json['customers'] as typeof made).map(({ id }) => id), json['cursor']];
  };
  const ids = [made[0]!.id, made[2]!.id].sort();
  t.same(await listed('reference=C-1'), [ids, null]);
  t.same(await listed('reference=C-1&limit=1'), [[ids[0]], ids[0]]);
  t.same(await listed(`reference=C-1&limit=1&cursor=${ids[0]!}`), [[ids[1]], ids[1]]);
  t.same(await listed(`reference=C-1&cursor=${ids[1]!}`), [[], null]);
  t.same(await listed('reference=C-2'), [[], null]);
  for (const [query, words] of [
    ['reference=', 'reference: must not be empty'],
    [`reference=${'x'.repeat(101)}`, 'reference: at most 100 characters, this has 101.'],
    ['refrence=C-1', 'did you mean "reference"'],
  ] as const)
    t.match(await listener.ask('GET', `${PATH}?${query}`), { status: 400, json: { message: words } }, query);
});

t.test('its keys have its plan and limits, and follow it', async (t) => {
  const listener = await listen(t);
  const { ask } = listener;
  const { id, path } = await create(listener);
  const made = await ask('POST', '/admin/v1/keys', { customer: id, name: 'Web shop', scopes: ['pets:read'] });
  t.match(made, { status: 201, json: { customer: id, plan: 'free', limits: null, scopes: ['pets:read'] } });
  const keyId = String(made.json['id']);
  t.match(keyId, new RegExp(`^${id}[0-9A-Za-z]{6}$`));
  for (let n = 0; n < 4; n += 1) t.equal(await outcome(listener, made.json['key']), 'admitted');
  await ask('PATCH', path, { plan: 'enterprise', limits: { minute: 4, day: 9 } });
  t.match((await ask('GET', `/admin/v1/keys/${keyId}`)).json, { plan: 'enterprise', limits: { minute: 4, day: 9 } });
  t.match((await ask('GET', '/admin/v1/keys?plan=enterprise')).json, { keys: [{ id: keyId, customer: id }] });
  t.same((await ask('GET', '/admin/v1/keys?plan=free')).json['keys'], []);
  const other = await create(listener);
  await ask('POST', '/admin/v1/keys', { customer: other.id, name: 'x' });
  t.match((await ask('GET', `/admin/v1/keys?customer=${id}`)).json, { keys: [{ id: keyId }], cursor: null });
  t.equal((await ask('GET', `/admin/v1/keys?customer=${keyId}`)).status, 400);
  t.equal(await outcome(listener, made.json['key']), 'limited');
  const rotated = await ask('POST', `/admin/v1/keys/${keyId}/rotate`, { overlap: '0s' });
  t.match(rotated, { status: 200, json: { id: keyId, plan: 'enterprise' } });
  const named = await ask('PATCH', `/admin/v1/keys/${keyId}`, { name: 'Shop' });
  t.match(named, { json: { name: 'Shop', plan: 'enterprise' } });
  await ask('PATCH', path, { status: 'disabled' });
  t.equal(await outcome(listener, rotated.json['key']), 'disabled');
  await ask('DELETE', path);
  t.equal(await outcome(listener, rotated.json['key']), 'closed');
  const late = await ask('POST', '/admin/v1/keys', { customer: id, name: 'x' });
  t.match(late, { status: 400, json: { message: /customer: is closed/ } });
});

t.test('400, 404: all that is wrong is named, and nothing is done', async (t) => {
  const listener = await listen(t);
  const { ask } = listener;
  const { id, path } = await create(listener);
  const lone = String((await ask('POST', '/admin/v1/keys', { plan: 'free', name: 'x' })).json['id']);
  const own = String((await ask('POST', '/admin/v1/keys', { customer: id, name: 'x' })).json['id']);
  for (const [method, at, body, ...words] of [
    ['POST', PATH, {}, 'name: is required', 'plan: is required'],
    [
      'POST',
      PATH,
      { name: '', plan: 'fre', reference: 5, limit: 1 },
      'name: must be',
      'did you mean "free"',
      'reference: must be',
      'unknown field "limit"',
    ],
    ['POST', PATH, { name: 'x', plan: 'free', reference: 'ptg_staging_x' }, 'reference: must not contain a key'],
    ['POST', PATH, { name: 'x', plan: 'enterprise' }, 'limits: missing, plan "enterprise" has custom limits'],
    ['POST', PATH, { name: 'x', plan: 'enterprise', limits: { minute: 3, day: 9 } }, 'minute must be at least 4'],
    ['PATCH', path, {}, 'nothing to change'],
    ['PATCH', path, { status: 'closed' }, 'status: must be "enabled" or "disabled"'],
    ['POST', '/admin/v1/keys', { customer: 'nobody00', name: 'x' }, 'no customer has this id'],
    [
      'POST',
      '/admin/v1/keys',
      { customer: id, plan: 'pro', limits: null, key: 'x' },
      'name: is required',
      "plan: is the customer's",
      "limits: are the customer's",
      'key: a key of another form',
    ],
    ['PATCH', `/admin/v1/keys/${own}`, { plan: 'pro' }, "plan: is the customer's"],
    ['PATCH', `/admin/v1/keys/${lone}`, { customer: id }, "a key can't be moved"],
  ] as const) {
    const reply = await ask(method, at, body);
    t.match(reply, { status: 400, json: { code: 'invalid_fields' } }, JSON.stringify(body));
    for (const word of words) t.match(reply.json['message'], word);
  }
  for (const at of [`${PATH}/nobody00`, `${PATH}/x`, `${PATH}/nobody00/history`])
    t.match(await ask('GET', at), { status: 404, json: { code: 'customer_not_found' } });
  t.match(await ask('GET', `${PATH}?cursor=${lone}`), { status: 400, json: { code: 'invalid_query' } });
  t.equal(((await ask('GET', PATH)).json['customers'] as unknown[]).length, 1);
  t.equal(((await ask('GET', `${path}/history`)).json['history'] as unknown[]).length, 1);
});

t.test('bans: all keys a customer has, but for revoked ones, and nobody else', async (t) => {
  const listener = await listen(t);
  const { ask } = listener;
  const { id, path } = await create(listener, { plan: 'pro' });
  const [first, second, revoked, other] = await Promise.all(
    [{ customer: id }, { customer: id }, { customer: id }, { plan: 'pro' }].map(
      async (of) => (await ask('POST', '/admin/v1/keys', { ...of, name: 'x' })).json,
    ),
  );
  await ask('DELETE', `/admin/v1/keys/${String(revoked?.['id'])}`);
  const { status, json } = await ask('PUT', `${path}/bans`, { for: '1h', reason: 'talks' });
  t.equal(status, 200);
  t.same(
    (json['bans'] as { key: string }[]).map(({ key }) => key),
    [first?.['id'], second?.['id']].map(String).sort(),
  );
  for (const key of [first, second]) t.equal(await outcome(listener, key?.['key']), 'banned');
  t.equal(await outcome(listener, other?.['key']), 'admitted');
  t.equal((await ask('DELETE', `/admin/v1/bans/${String(first?.['id'])}`)).status, 204, "each is a key's own");
  t.equal((await ask('DELETE', `${path}/bans`)).status, 204);
  t.match(await ask('DELETE', `${path}/bans`), { status: 404, json: { code: 'not_banned' } });
  t.equal(await outcome(listener, second?.['key']), 'admitted');
  t.match(await ask('PUT', `${path}/bans`, { for: 'x' }), { status: 400 });
});
