import { createHash } from 'node:crypto';
import t from 'tap';
import { StoreUnavailable } from '../../../../src/gateway/admission/port.js';
import { parseAdminToken } from '../../../../src/gateway/accounts/token.js';
import { filesIn, openStore } from '../../accounts/store.js';
import { ADMIN_TOKEN, bearer, listen, type Listener } from '../../admin/listener.js';

async function create({ ask }: Listener, role: string, more: object = {}) {
  const { status, json } = await ask('POST', '/admin/v1/tokens', { name: `the ${role} one`, role, ...more });
  if (status !== 201) throw new Error(JSON.stringify(json));
  return { id: String(json['id']), token: String(json['token']) };
}

t.test('201, 200, 204: a token is made, shown once, listed, and revoked at once', async (t) => {
  const listener = await listen(t);
  const { ask } = listener;
  const made = await ask('POST', '/admin/v1/tokens', { name: 'Billing run', role: 'billing', expires: '2030-12-05' });
  t.equal(made.status, 201);
  const { id, token, ...rest } = made.json;
  t.match(token, /^pta_[0-9A-Za-z]{44}$/);
  t.equal(parseAdminToken(String(token))?.id, id);
  t.match(rest, {
    name: 'Billing run',
    role: 'billing',
    state: 'good',
    by: 'admin-api',
    expires: '2030-12-05T00:00:00.000Z',
  });
  const path = `/admin/v1/tokens/${String(id)}`;
  t.same((await ask('GET', path)).json, { id, ...rest });
  t.same((await ask('GET', '/admin/v1/tokens')).json, { tokens: [{ id, ...rest }] });
  t.equal((await ask('GET', '/admin/v1/usage', undefined, bearer(String(token)))).status, 200);
  t.match(await ask('DELETE', path), { status: 204, text: '' });
  t.match(await ask('GET', '/admin/v1/usage', undefined, bearer(String(token))), {
    status: 401,
    json: { code: 'invalid_admin_token' },
  });
  t.match(listener.logged(), `"tokenId":"${String(id)}"`);
  for (const method of ['GET', 'DELETE'])
    t.match(await ask(method, path), { status: 404, json: { code: 'token_not_found' } });
  t.same((await ask('GET', '/admin/v1/tokens')).json, { tokens: [] });
});

t.test('400: all that is wrong is told at once, and nothing is made', async (t) => {
  const { ask } = await listen(t);
  for (const [body, ...words] of [
    [{}, 'name: is required', 'role: is required: read, billing, keys, operator'],
    [
      { name: '', role: 'biling', expire: 1, expires: '2020-01-01' },
      'name: must be a text',
      'there is no role "biling"; did you mean "billing"',
      'unknown field "expire": did you mean "expires"',
      'expires: must lie in the future',
    ],
    [{ name: 'x', role: 5 }, 'role: is required'],
    [{ name: 'my pta_0123 token', role: 'read' }, 'must not contain a key or a token'],
    [{ name: 'x', role: 'read', expires: 'soon' }, 'expires: must be a date'],
    [{ name: 'x', role: 'toString' }, 'there is no role'],
  ] as const) {
    const refused = await ask('POST', '/admin/v1/tokens', body);
    t.match(refused, { status: 400, json: { code: 'invalid_fields' } });
    for (const word of words) t.match(refused.json['message'], word);
  }
  t.same((await ask('GET', '/admin/v1/tokens')).json, { tokens: [] });
});

t.test('a token ends at its time, by the clock of the store', async (t) => {
  let nowMs = Date.UTC(2026, 10, 22);
  const listener = await listen(t, {}, { clock: () => Promise.resolve(nowMs) });
  const { token } = await create(listener, 'read', { expires: '2026-11-23' });
  const status = async (): Promise<number> =>
    (await listener.ask('GET', '/admin/v1/keys', undefined, bearer(token))).status;
  const listed = async () => (await listener.ask('GET', '/admin/v1/tokens')).json['tokens'];
  nowMs = Date.UTC(2026, 10, 23) - 1;
  t.equal(await status(), 200);
  t.match(await listed(), [{ state: 'good' }]);
  nowMs += 1;
  t.equal(await status(), 401);
  t.match(await listed(), [{ state: 'expired' }], 'until somebody removes it');
});

t.test('401: no other token passes for it', async (t) => {
  let nowMs = 0;
  const listener = await listen(t, { elapsedMs: () => (nowMs += 60_000) });
  const [{ token }, other] = [await create(listener, 'operator'), await create(listener, 'operator')];
  await listener.ask('DELETE', `/admin/v1/tokens/${other.id}`);
  const { key } = (await listener.ask('POST', '/admin/v1/keys', { plan: 'free', name: 'x' })).json;
  const last = token.endsWith('0') ? '1' : '0';
  for (const wrong of [
    token.slice(0, -1),
    token.slice(0, -1) + last,
    `${token}0`,
    token.slice(0, 16) + other.token.slice(16),
    token.replace('pta_', 'ptg_'),
    createHash('sha256').update(token).digest('base64url'),
    other.token,
    String(key),
  ])
    t.equal((await listener.ask('GET', '/admin/v1/keys', undefined, bearer(wrong))).status, 401, wrong);
  t.equal((await listener.ask('GET', '/admin/v1/keys', undefined, bearer(token))).status, 200);
});

t.test('history names the token, and what X-Petgate-Actor claims beside it', async (t) => {
  const listener = await listen(t);
  const { ask, logged } = listener;
  const { token } = await create(listener, 'keys');
  const { id } = (await ask('POST', '/admin/v1/keys', { plan: 'free', name: 'x' }, bearer(token))).json;
  const path = `/admin/v1/keys/${String(id)}`;
  await ask('PATCH', path, { plan: 'pro' }, bearer(token, 'cli:zoe'));
  await ask('PUT', `/admin/v1/bans/${String(id)}`, { for: '1h' }, bearer(token, 'cli:zoe'));
  t.match((await ask('GET', `/admin/v1/bans/${String(id)}`)).json, { by: 'the keys one (cli:zoe)' });
  await ask('PATCH', path, { plan: 'free' }, bearer(ADMIN_TOKEN, 'cli:root'));
  const { history } = (await ask('GET', `${path}/history`)).json as { history: { actor: string }[] };
  t.same(
    history.map(({ actor }) => actor),
    ['the keys one', 'the keys one (cli:zoe)', 'the keys one (cli:zoe)', 'cli:root'],
  );
  t.match(logged(), '"actor":"the keys one (cli:zoe)"');
});

t.test('503: while the store is unavailable the root token alone is known', async (t) => {
  const { engine } = openStore(t);
  const away = (): Promise<never> => Promise.reject(new StoreUnavailable('away'));
  const tokens = { read: away, list: away, add: away, remove: away };
  const { ask } = await listen(t, { engine: { ...engine, tokens } });
  const listener = await listen(t);
  const { token } = await create(listener, 'read');
  const refused = await ask('GET', '/admin/v1/keys', undefined, bearer(token));
  t.match(refused, { status: 503, json: { code: 'store_unavailable' }, headers: { 'retry-after': '1' } });
  t.match(refused.json['message'], 'use the token of the environment');
  t.equal((await ask('GET', '/admin/v1/keys')).status, 200);
  t.match(await ask('POST', '/admin/v1/tokens', { name: 'x', role: 'read' }), { status: 503 });
});

t.test('no token stands in any answer but the first, in the log, or in the files of the store', async (t) => {
  const listener = await listen(t);
  const { ask, logged, folder, engine } = listener;
  const { id, token } = await create(listener, 'operator');
  const replies = [
    await ask('GET', '/admin/v1/tokens'),
    await ask('GET', `/admin/v1/tokens/${id}`),
    await ask('GET', `/admin/v1/tokens/${token}`),
    await ask('DELETE', `/admin/v1/tokens/${token}`),
    await ask('GET', `/admin/v1/keys/${token}`),
    await ask('POST', '/admin/v1/tokens', { name: token, role: token, [token]: 1 }),
    await ask('POST', '/admin/v1/keys', { name: token, plan: token }),
    await ask('GET', '/admin/v1/keys', undefined, bearer(token, token)),
    await ask('GET', '/admin/v1/keys', undefined, bearer(`${token}x`)),
    await ask('GET', '/admin/v1/keys', undefined, bearer(token)),
  ];
  t.match(replies[2], { status: 404, json: { message: /a whole token was given/ } });
  await engine.check();
  const seen = replies.map((reply) => JSON.stringify([reply.headers, reply.text])).join('\n') + logged();
  const kept = filesIn(folder);
  t.ok(kept.includes('the operator one'), 'the store does keep its records in these files as plain text');
  for (const text of [seen, kept]) t.notOk(text.includes(token.slice(-32)));
  t.notOk(seen.includes(createHash('sha256').update(token).digest('base64url')), 'nor its hash');
});
