import t from 'tap';
import { judge } from '../../accounts/store.js';
import { ADMIN_TOKEN, bearer, listen, walk } from '../../admin/listener.js';

t.test('201: a key is created, shown once, and its record reads back without it', async (t) => {
  const { ask } = await listen(t);
  const made = await ask('POST', '/admin/v1/keys', { plan: 'free', name: 'My app' });
  t.equal(made.status, 201);
  t.match(made.json, {
    id: /^[0-9A-Za-z]{12}$/,
    key: /^ptg_staging_/,
    plan: 'free',
    name: 'My app',
    status: 'enabled',
    limits: null,
    scopes: null,
    expires: null,
  });
  t.match(made.json['created'], /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  t.match(made.headers, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  const id = String(made.json['id']);
  const shown = await ask('GET', `/admin/v1/keys/${id}`);
  t.same({ ...shown.json, key: made.json['key'] }, made.json);
  t.notOk('key' in shown.json);
  t.equal((await ask('HEAD', `/admin/v1/keys/${id}`)).status, 200);
});

t.test('200, 204: a key is changed, rotated, listed, revoked', async (t) => {
  const { ask, engine } = await listen(t);
  const made = await ask('POST', '/admin/v1/keys', { plan: 'free', name: 'My app' });
  const id = String(made.json['id']);
  const changed = await ask('PATCH', `/admin/v1/keys/${id}`, { plan: 'pro' });
  t.match(changed, { status: 200, json: { plan: 'pro' } });
  const rotated = await ask('POST', `/admin/v1/keys/${id}/rotate`, { overlap: '1h' });
  t.match(rotated, { status: 200, json: { id, key: /^ptg_staging_/ } });
  t.not(rotated.json['key'], made.json['key']);
  t.equal((await ask('POST', `/admin/v1/keys/${id}/rotate`)).status, 200, 'the overlap has a default');
  const listed = await ask('GET', '/admin/v1/keys?plan=pro&status=enabled&name=My');
  t.match(listed, { status: 200, json: { keys: [{ id }], cursor: null } });
  t.same((await ask('GET', '/admin/v1/keys?plan=free')).json, { keys: [], cursor: null });
  const revoked = await ask('DELETE', `/admin/v1/keys/${id}`);
  t.same([revoked.status, revoked.text], [204, '']);
  t.equal((await ask('DELETE', `/admin/v1/keys/${id}`)).status, 204);
  t.equal(await judge(engine, rotated.json['key']), 'revoked');
  t.equal((await ask('PATCH', `/admin/v1/keys/${id}`, { status: 'enabled' })).status, 409);
  const history = (await ask('GET', `/admin/v1/keys/${id}/history`)).json['history'] as { action: string }[];
  t.same(history.map(({ action }) => action).sort(), ['changed', 'created', 'revoked', 'rotated', 'rotated']);
});

t.test('a listing is walked page by page', async (t) => {
  const { ask } = await listen(t);
  for (let index = 0; index < 5; index += 1)
    await ask('POST', '/admin/v1/keys', { plan: 'free', name: `app ${index}` });
  const ids = (await walk({ ask }, '/admin/v1/keys?limit=2', 'keys')).map(({ id }) => id);
  t.equal(ids.length, 5);
  t.same(ids, [...new Set(ids)].sort());
});

t.test('400: bad bodies', async (t) => {
  const { ask } = await listen(t);
  const bodies = [
    '{',
    '[]',
    '"x"',
    '5',
    'null',
    'plan=free',
    '{"plan":"free","name":"x"} {}',
    '{"plan":"free","plan":"free","name":"x"}',
    '{"__proto__":{"plan":"free","name":"x"}}',
    '{"plan":"free","name":"x","n\\u0061me":"x"}',
    '{"plan":"enterprise","name":"{:\\"","limits":{"minute":1,"day":1,"day":1}}',
  ];
  for (const body of [
    ...bodies,
    Buffer.from([0x7b, 0xff, 0x7d]),
    '['.repeat(60_000),
    `{"a":${'{"a":'.repeat(5000)}1${'}'.repeat(5001)}`,
  ]) {
    const refused = await ask('POST', '/admin/v1/keys', body);
    t.equal(refused.status, 400, `${body.toString().slice(0, 40)} → ${refused.text.slice(0, 120)}`);
    t.same(Object.keys(refused.json).sort(), ['code', 'message', 'status']);
  }
  t.match((await ask('POST', '/admin/v1/keys', bodies[7])).json['message'], 'the field "plan" twice');
  t.match(
    (await ask('POST', '/admin/v1/keys/abcdefghijkl/rotate', { overlop: '1h' })).json['message'],
    'did you mean "overlap"',
  );
  t.equal((await ask('GET', '/admin/v1/keys')).text, '{"keys":[],"cursor":null}', 'nothing came of any');
});

t.test('201: whatever type a body claims', async (t) => {
  const { ask } = await listen(t);
  for (const type of ['application/json', 'application/x-www-form-urlencoded', 'text/plain; charset=x', 'json', ';']) {
    const headers = { ...bearer(ADMIN_TOKEN), 'content-type': type };
    t.equal((await ask('POST', '/admin/v1/keys', { plan: 'free', name: 'x' }, headers)).status, 201, type);
    t.match((await ask('POST', '/admin/v1/keys', '', headers)).json['message'], 'plan: is required', type);
    t.equal((await ask('POST', '/admin/v1/keys/import', '\n', headers)).status, 200, type);
  }
});

t.test('413: a body over 64 KiB is refused and the answer arrives', async (t) => {
  const { ask } = await listen(t);
  const refused = await ask('POST', '/admin/v1/keys', `{"plan":"free","name":"${'x'.repeat(3_000_000)}"}`);
  t.match(refused, { status: 413, json: { code: 'body_too_large', status: 413 } });
});

t.test('400: bad queries', async (t) => {
  const { ask } = await listen(t);
  for (const query of [
    'limit=0',
    'limit=1001',
    'limit=x',
    'limit=',
    'limit=1&limit=2',
    'cursor=x',
    'status=gone',
    'colour=red',
    'plan',
    '__proto__=x',
  ]) {
    const refused = await ask('GET', `/admin/v1/keys?${query}`);
    if (query === 'plan') t.equal(refused.status, 200);
    else t.match(refused, { status: 400, json: { code: 'invalid_query' } }, query);
  }
});

t.test('404, 405: what is not there, and what is not possible', async (t) => {
  const { ask } = await listen(t);
  for (const path of [
    '/admin/v1/keys/abcdefghijkl',
    '/admin/v1/keys/x',
    '/admin/v1/keys/',
    '/admin/v1/nothing',
    '/',
    '/admin/v1/keys/a/b/c',
    '/admin/v1/keys/%2e%2e/rotate',
  ]) {
    t.match(
      await ask('GET', path),
      { status: path.endsWith('rotate') ? 405 : 404, json: { status: path.endsWith('rotate') ? 405 : 404 } },
      path,
    );
  }
  const refused = await ask('PUT', '/admin/v1/keys/abcdefghijkl');
  t.equal(refused.status, 405);
  t.equal(refused.headers.allow, 'GET, HEAD, PATCH, DELETE');
  t.equal((await ask('DELETE', '/admin/v1/keys')).headers.allow, 'GET, HEAD, POST');
  t.equal((await ask('DELETE', '/metrics')).status, 405);
});
