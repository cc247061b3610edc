import t from 'tap';
import type { Test } from 'tap';
import { hash } from 'node:crypto';
import { ownCertificate } from '../servers/certificate.js';
import { ADMIN_TOKEN, startGateway, type Gateway } from '../servers/gateway.js';
import { openHttp2 } from '../servers/http2.js';
import { NO_BAN } from '../servers/plans.js';
import { exchangeRaw } from '../servers/raw.js';
import { handshake, openTunnel } from '../servers/tunnel.js';
import { TUNNEL_PLANS, writeContract } from '../servers/tunnel-front.js';
import { startUpstream, type Upstream } from '../servers/upstream.js';

const EVERYWHERE = ['bearer', { header: 'X-API-Key' }, { query: 'api_key' }, { basic: 'username' }];
const FOREIGN = 'sk+live/4242424242424242==';
const tls = ownCertificate(t);

async function start(
  t: Test,
  config: Readonly<Record<string, unknown>>,
  pets: Readonly<Record<string, unknown>> = {},
  plans: Readonly<Record<string, unknown>> = TUNNEL_PLANS,
): Promise<{ gateway: Gateway; upstream: Upstream }> {
  const upstream = await startUpstream(t);
  const upstreams = { pets: { addresses: [upstream.url], ...pets } };
  const contract = writeContract(t);
  const gateway = await startGateway(t, { plans, tls, config: { contract, ...config, upstreams } });
  return { gateway, upstream };
}

t.test('a key, ours or imported, is known in each place, over HTTP/1, HTTP/2 and in a handshake', async (t) => {
  const { gateway, upstream } = await start(t, { credentials: EVERYWHERE, keys: { accept_imported: true } });
  const { key: own } = await gateway.createKey({ plan: 'free' });
  const imported = { hash: hash('sha256', FOREIGN, 'hex'), plan: 'free', name: 'theirs' };
  const brought = await fetch(`${gateway.adminUrl}/admin/v1/keys/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/x-ndjson' },
    body: JSON.stringify(imported),
  });
  t.match(await brought.json(), { imported: 1 });
  const http2 = openHttp2(t, gateway.target);
  for (const key of [own, FOREIGN])
    for (const [place, query, field] of [
      ['bearer', '', ['authorization', `Bearer ${key}`]],
      ['header', '', ['x-api-key', key]],
      ['query', `&api_key=${encodeURIComponent(key)}`, ['accept', '*/*']],
      ['basic', '', ['authorization', `Basic ${Buffer.from(`${key}:`).toString('base64')}`]],
    ] as const) {
      upstream.seen.length = 0;
      const head = `GET /v1/pets?limit=1${query} HTTP/1.1\r\nHost: x\r\n${field.join(': ')}\r\n\r\n`;
      const [plain] = await exchangeRaw(gateway.target, head, 1);
      const stream = await http2.send({ path: `/v1/pets?limit=1${query}`, fields: Object.fromEntries([field]) });
      const asked = handshake(`/v1/pets/watch?limit=1${query}`, field.join(': '));
      const { answer } = await openTunnel(t, gateway.target, asked);
      t.same([plain?.status, stream.status], [200, 200], place);
      t.not(answer.status, 401, `${place}, handshake`);
      t.equal(upstream.seen.length, 3, 'each was forwarded');
      t.ok(upstream.seen.every(({ url }) => url.endsWith('?limit=1')));
      t.notOk(JSON.stringify(upstream.seen).includes(key));
    }
});

t.test('whoever sends no valid key reads how to send one here', async (t) => {
  const { gateway } = await start(t, {
    credentials: [{ header: 'X-API-Key' }, { basic: 'password' }],
    realm: 'shop',
    cors: { origins: '*' },
  });
  const send = async (...lines: readonly string[]): Promise<{ status: number; body: string; challenge?: string }> => {
    const [answer] = await exchangeRaw(gateway.target, [...lines, 'Host: x', '', ''].join('\r\n'), 1);
    return { status: answer!.status, body: answer!.body, challenge: answer!.headers.get('www-authenticate') ?? '' };
  };
  const challenge = 'Basic realm="shop", ApiKey realm="shop", header="X-API-Key"';
  const missing = await send('GET /v1/pets HTTP/1.1');
  t.match(missing, { status: 401, challenge });
  t.match(missing.body, /No API key was sent.*X-API-Key: <API_KEY>.*or as password of Basic/);
  t.match(await send('GET /v1/pets?api_key=x HTTP/1.1'), { body: /missing_api_key/ }, 'nobody looks into the query');
  const { key } = await gateway.createKey({ plan: 'free' });
  t.match(await send('GET /v1/pets HTTP/1.1', `Authorization: Bearer ${key}`), { status: 401, challenge });
  t.match(
    await send('GET /v1/pets HTTP/1.1', `X-API-Key: ${key}`, `X-API-Key: ${key}`),
    { status: 401, body: /invalid_api_key/ },
    'two are none',
  );
  t.match(await send('GET /v1/pets HTTP/1.1', `X-API-Key: ${key}`), { status: 200 });

  const [preflight] = await exchangeRaw(
    gateway.target,
    'OPTIONS /v1/pets HTTP/1.1\r\nHost: x\r\nOrigin: https://a.example\r\nAccess-Control-Request-Method: GET\r\n\r\n',
    1,
  );
  t.match(preflight!.headers.get('access-control-allow-headers'), /\bX-API-Key$/);
  const document = JSON.parse((await send('GET /openapi.json HTTP/1.1')).body) as Record<string, unknown>;
  t.match(document['components'], {
    securitySchemes: { apiKey2: { in: 'header', name: 'X-API-Key' }, apiKey3: { scheme: 'basic' } },
  });
  t.strictSame(document['security'], [{ apiKey2: [] }, { apiKey3: [] }]);
});

t.test("an upstream may have the client's own Authorization where keys come elsewhere", async (t) => {
  const { gateway, upstream } = await start(t, { credentials: [{ header: 'X-API-Key' }] }, { authorization: 'client' });
  const { key } = await gateway.createKey({ plan: 'free' });
  const head = `GET /v1/pets HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nAuthorization: Bearer theirs\r\n\r\n`;
  t.match(await exchangeRaw(gateway.target, head, 1), [{ status: 200 }]);
  t.equal(upstream.seen[0]!.headers.authorization, 'Bearer theirs');
  t.equal(upstream.seen[0]!.headers['x-api-key'], undefined);
});

t.test('where Basic is a place, a request without a credential is always challenged, and free', async (t) => {
  const limit = 20;
  const { gateway } = await start(
    t,
    { credentials: ['bearer', { basic: 'password' }] },
    {},
    { ...TUNNEL_PLANS, anonymous: { limits: { minute: limit, day: limit }, ban: NO_BAN } },
  );
  const { key } = await gateway.createKey({ plan: 'free' });
  const http2 = openHttp2(t, gateway.target);
  for (let n = 0; n < 2 * limit; n += 1) {
    const stream = await http2.send({ path: '/v1/pets' });
    if (stream.status !== 401 || !/Basic realm=/.test(stream.headers.get('www-authenticate') ?? ''))
      t.fail(`request ${n} got ${stream.status} without a challenge`);
  }
  const login = { authorization: `Basic ${Buffer.from(`git:${key}`).toString('base64')}` };
  t.equal((await http2.send({ path: '/v1/pets', fields: login })).status, 200);
  const bad = { authorization: 'Bearer ptg_development_wrong' };
  let last = await http2.send({ path: '/v1/pets', fields: bad });
  t.equal(last.status, 401, 'nothing of the address was spent');
  for (let n = 0; n < limit && last.status === 401; n += 1) last = await http2.send({ path: '/v1/pets', fields: bad });
  t.equal(last.status, 429, 'a wrong key still costs');
  t.equal((await http2.send({ path: '/v1/pets' })).status, 401, 'and even then a client is asked for its key');
  t.equal((await http2.send({ path: '/v1/pets', fields: login })).status, 200);
});
