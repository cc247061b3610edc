import t from 'tap';
import type { Test } from 'tap';
import { once } from 'node:events';
import { get, request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { StoreUnavailable } from '../../../src/gateway/admission/port.js';
import { until } from '../../servers/until.js';
import { openStore } from '../accounts/store.js';
import { ADMIN_TOKEN, listen } from './listener.js';

t.test('probes and metrics need no token', async (t: Test) => {
  const { ask } = await listen(t);
  const metrics = await ask('GET', '/metrics', undefined, {});
  t.same([metrics.status, metrics.text], [200, 'petgate_up 1\n']);
  t.match(metrics.headers['content-type'], 'text/plain; version=0.0.4');
  t.same((await ask('GET', '/livez', undefined, {})).json, { alive: true });
  t.same((await ask('GET', '/readyz', undefined, {})).json, { ready: true, parts: { store: { ok: true } } });
});

t.test('503: not ready, part by part', async (t: Test) => {
  const { ask } = await listen(t, {
    ready: () => ({ ready: false, parts: { store: { ok: false, detail: 'away' }, pets: { ok: true } } }),
  });
  const reply = await ask('GET', '/readyz', undefined, {});
  t.equal(reply.status, 503);
  t.same(reply.json, { ready: false, parts: { store: { ok: false, detail: 'away' }, pets: { ok: true } } });
});

t.test('401: everything under /admin, and what is not there, asks for the token', async (t: Test) => {
  let nowMs = 0;
  const { ask } = await listen(t, { elapsedMs: () => (nowMs += 60_000) });
  const credentials = [
    'Basic Og==',
    'Bearer \u00a0',
    `Bearer ${ADMIN_TOKEN}\u00a0`,
    `Basic ${Buffer.from(ADMIN_TOKEN).toString('base64')}`,
    '',
    'Bearer',
    'Bearer ',
    `Bearer ${ADMIN_TOKEN}x`,
    `Bearer ${ADMIN_TOKEN.slice(0, -1)}`,
    `Basic ${ADMIN_TOKEN}`,
    `Basic ${Buffer.from(`any:${ADMIN_TOKEN}`).toString('base64')}`,
    ADMIN_TOKEN,
  ];
  const paths = [
    '/admin/v1/keys',
    '/admin/v1/bans',
    '/admin/v1/usage',
    '/admin/v1/keys/abcdefghijkl/history',
    '/nothing',
  ];
  for (const path of paths) {
    const missing = await ask('GET', path, undefined, {});
    t.match(missing, { status: 401, json: { code: 'missing_admin_token', status: 401 } });
    t.equal(missing.headers['www-authenticate'], 'Bearer realm="petgate-admin"');
    for (const authorization of credentials) {
      const refused = await ask('GET', path, undefined, { authorization });
      t.equal(refused.status, 401, authorization);
      t.notMatch(refused.text, ADMIN_TOKEN);
    }
  }
  t.equal((await ask('POST', '/admin/v1/keys', { plan: 'free', name: 'x' }, {})).status, 401);
  t.equal(
    (await ask('GET', '/admin/v1/keys', undefined, { authorization: `bearer  ${ADMIN_TOKEN}` })).status,
    200,
    'the scheme knows no case',
  );
});

t.test('503: a store that is unavailable is told as such, with a time to retry', async (t: Test) => {
  const { engine } = openStore(t);
  const away = () => Promise.reject(new StoreUnavailable('away'));
  const { keys, customers } = engine;
  const { ask, logged } = await listen(t, {}, { engine: { admit: away, keys, customers } });
  const reply = await ask('POST', '/admin/v1/keys', { plan: 'free', name: 'x' });
  t.match(reply, { status: 503, json: { code: 'store_unavailable', status: 503 }, headers: { 'retry-after': '1' } });
  t.equal((await ask('GET', '/admin/v1/usage')).status, 503);
  t.notMatch(logged(), 'failed');
});

t.test('500: a bug is logged, and the client learns nothing of it', async (t: Test) => {
  const { ask, logged } = await listen(t, { metrics: () => Promise.reject(new Error('inner workings')) });
  const reply = await ask('GET', '/metrics', undefined, {});
  t.match(reply, { status: 500, json: { code: 'internal_error' } });
  t.notMatch(reply.text, 'inner workings');
  t.match(logged(), 'inner workings');
});

t.test('what no route can be for is refused as anything else: first without the token', async (t: Test) => {
  const { ask } = await listen(t);
  for (const [method, path, status, allow] of [
    ['GET', '/admin/v1/keys/%zz', 404],
    ['GET', '/%ff', 404],
    ['OPTIONS', '*', 404],
    ['GET', '//', 404],
    ['GET', `/admin/v1/keys/${'x'.repeat(5_000)}`, 404],
    ['PROPFIND', '/admin/v1/keys', 405, 'GET, HEAD, POST'],
    ['TRACE', '/metrics', 405, 'GET, HEAD'],
    ['POST', '/admin/v1/nothing', 404],
  ] as const) {
    const big = method === 'POST' ? 'x'.repeat(100_000) : undefined;
    t.match(await ask(method, path, big, {}), { status: 401, json: { code: 'missing_admin_token' } }, path);
    const refused = await ask(method, path, big);
    t.match(refused, { status, json: { status } }, path);
    t.equal(refused.headers.allow, allow, path);
  }
});

t.test('an answer that fails in its midst is cut, one that fails at once is a refusal', async (t: Test) => {
  let pieces = 1;
  const report = async function* (): AsyncGenerator<Buffer, void> {
    for (let piece = 0; piece < pieces; piece += 1) yield await Promise.resolve(Buffer.alloc(1_000, 'x'));
    throw new StoreUnavailable('away');
  };
  const { ask, logged } = await listen(t, { report });
  for (const format of ['csv', 'json']) {
    pieces = 0;
    const refused = await ask('GET', `/admin/v1/usage?format=${format}`);
    t.match(refused, { status: 503, json: { code: 'store_unavailable' } });
    t.equal(refused.headers['content-disposition'], undefined);
    pieces = 3;
    await t.rejects(ask('GET', `/admin/v1/usage?format=${format}`), { code: 'ECONNRESET' });
  }
  t.match(logged(), 'an admin response was cut short');
});

t.test('an answer that nobody reads any more is not made to its end', async (t: Test) => {
  let ended = false;
  const report = async function* (): AsyncGenerator<Buffer, void> {
    try {
      for (;;) yield await Promise.resolve(Buffer.alloc(65_536, 'x'));
    } finally {
      ended = true;
    }
  };
  const { port } = await listen(t, { report });
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const [res] = (await once(get({ port, path: '/admin/v1/usage?format=csv', headers }), 'response')) as [
    IncomingMessage,
  ];
  await once(res, 'readable');
  t.equal(ended, false);
  res.destroy();
  await until('its maker was stopped', () => ended);
});

t.test('what a caller did not finish sending is no fault of the gateway', async (t: Test) => {
  const { port, ask, logged } = await listen(t);
  for (const path of ['/admin/v1/keys', '/admin/v1/keys/import']) {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-length': '1000' };
    const req = request({ port, method: 'POST', path, headers });
    const closed = new Promise((resolve) => req.on('error', () => undefined).on('close', resolve));
    await new Promise((resolve) => req.write('{"plan":', resolve));
    await ask('GET', '/livez');
    req.destroy();
    await closed;
  }
  t.equal((await ask('GET', '/admin/v1/keys')).status, 200);
  t.notMatch(logged(), 'failed');
});

t.test('HEAD has the fields of GET and no body', async (t: Test) => {
  const { ask } = await listen(t);
  for (const path of ['/metrics', '/livez', '/admin/v1/keys', '/admin/v1/store/export', '/admin/v1/usage']) {
    const [head, got] = [await ask('HEAD', path), await ask('GET', path)];
    t.same([head.status, head.text], [200, '']);
    for (const field of ['content-type', 'content-security-policy', 'cache-control'])
      t.equal(head.headers[field], got.headers[field], `${path} ${field}`);
  }
});

t.test('400: bytes that are no HTTP get an Error body too', async (t: Test) => {
  const { port } = await listen(t);
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  socket.write('what is this\r\n\r\n');
  await once(socket, 'close');
  t.match(text, /^HTTP\/1\.1 400 /);
  t.same(JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)), {
    code: 'bad_request',
    message: 'This is not valid HTTP/1.1.',
    status: 400,
  });
});
