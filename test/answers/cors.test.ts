import t from 'tap';
import type { Test } from 'tap';
import { request } from '../attacks/front.js';
import { startGateway, type Gateway } from '../servers/gateway.js';
import { NO_BAN } from '../servers/plans.js';
import { exchangeRaw, type RawAnswer } from '../servers/raw.js';
import { redisFor } from '../servers/redis.js';
import { handshake } from '../servers/tunnel.js';
import { startTunnelFront } from '../servers/tunnel-front.js';
import { startUpstream, type Upstream } from '../servers/upstream.js';
import { until } from '../servers/until.js';
import { startWebSocketUpstream } from '../servers/websocket.js';
import { checkHonest } from './honest.js';

const LISTED = 'https://shop.example.com';
const AMPLE = { minute: 100_000, day: 100_000 };
const PLANS = {
  free: { limits: AMPLE, ban: NO_BAN },
  tiny: { limits: { minute: 1, day: 1000 }, ban: NO_BAN },
  anonymous: { limits: AMPLE, ban: NO_BAN },
};

const send = async (gateway: Gateway, bytes: string): Promise<RawAnswer> =>
  (await exchangeRaw(gateway.target, bytes, 1))[0]!;

/** Requests that get every kind of answer: what of the two upstream handlers they need, and the status. */
function everyKind(
  key: string,
  tinyKey: string,
  upstream: Upstream,
): readonly (readonly [string, number, (origin: readonly string[]) => string, (() => void)?])[] {
  const answering = (status: number, body: string | Buffer) => (): void => {
    upstream.handle = (_seen, response) =>
      response
        .writeHead(status, {
          'content-type': 'application/json',
          vary: 'Accept-Language',
          'access-control-allow-origin': 'https://service.example',
        })
        .end(body);
  };
  const list = (origin: readonly string[]): string => request('GET /v1/pets', key, ...origin);
  return [
    ['list', 200, list, answering(200, '[]')],
    ['streamed', 200, list, answering(200, Buffer.alloc(300_000, ' '))],
    ['own usage', 200, (origin) => request('GET /v1/usage', key, ...origin)],
    ['the contract', 200, (origin) => request('GET /openapi.json', ...origin)],
    ['the reference', 200, (origin) => request('GET /docs', ...origin)],
    ['options', 204, (origin) => request('OPTIONS /v1/pets', ...origin)],
    ['not HTTP at all', 400, (origin) => `BLARG\r\n${origin.join('')}\r\n\r\n`],
    ['a broken field', 400, (origin) => `GET /v1/pets HTTP/1.1\r\n${origin.join('')}\r\nHo st: x\r\n\r\n`],
    ['another scheme', 400, (origin) => request('GET ftp://x/v1/pets', key, ...origin)],
    ['no key', 401, (origin) => request('GET /v1/pets', ...origin)],
    ['unknown path', 404, (origin) => request('GET /v1/cats', key, ...origin)],
    ['unknown path, of OPTIONS', 401, (origin) => request('OPTIONS /v1/cats', ...origin)],
    ['unknown method', 405, (origin) => request('DELETE /v1/pets', key, ...origin)],
    ['declared too large', 413, (origin) => request('POST /v1/pets', key, ...origin, 'Content-Length: 99999999')],
    ['long target', 414, (origin) => request(`GET /v1/pets?${'x'.repeat(9000)}`, key, ...origin)],
    ['one too many', 429, (origin) => request('GET /v1/pets', tinyKey, ...origin)],
    ['large header', 431, (origin) => request('GET /v1/pets', key, ...origin, `X-Large: ${'x'.repeat(20_000)}`)],
    ['announced only', 501, (origin) => request('GET /v1/store/orders', key, ...origin)],
    ['upstream failed', 502, list, () => (upstream.handle = (_seen, response) => response.socket!.destroy())],
    [
      'upstream says 503',
      503,
      list,
      answering(503, '{"code":"from_upstream","message":"a message of the upstream","status":503}'),
    ],
    ['upstream silent', 504, list, () => (upstream.handle = () => undefined)],
    ['HTTP/2.0 by name', 505, (origin) => request('GET /v1/pets', key, ...origin).replace('HTTP/1.1', 'HTTP/2.0')],
  ];
}

/**
 * Fields a script may read anyway, and those that are about the connection or about storing: no script decides by them.
 */
const NOT_FOR_SCRIPTS = new Set([
  'access-control-allow-origin',
  'access-control-expose-headers',
  'cache-control',
  'connection',
  'content-length',
  'content-security-policy',
  'content-type',
  'keep-alive',
  'referrer-policy',
  'transfer-encoding',
  'vary',
  'x-content-type-options',
]);

function checkAllowed(t: Test, { headers }: RawAnswer, name: string, origin = LISTED): void {
  t.equal(headers.get('access-control-allow-origin'), origin, `${name}: the origin may read it`);
  const readable = headers.get('access-control-expose-headers')?.toLowerCase().split(', ') ?? [];
  t.strictSame(
    [...headers.keys()].filter((field) => !NOT_FOR_SCRIPTS.has(field) && !readable.includes(field)),
    [],
    `${name}: all its fields may be read`,
  );
  t.match(headers.get('vary') ?? '', /(^|, )Origin(, |$)/, `${name}: varies by origin`);
}

t.test('every answer can be read by a page on a listed origin, and by no other', async (t) => {
  const upstream = await startUpstream(t);
  const gateway = await startGateway(t, {
    plans: PLANS,
    config: {
      cors: { origins: [LISTED, 'https://*.other.example'] },
      limits: { headers_time: '1s', request_time: '1s' },
      upstreams: { pets: { breaker: 'off', addresses: [upstream.url], deadline: '2s' } },
    },
  });
  const [good, tiny] = [await gateway.createKey({ plan: 'free' }), await gateway.createKey({ plan: 'tiny' })];
  const tinyKey = `Authorization: Bearer ${tiny.key}`;
  t.equal((await send(gateway, request('GET /v1/pets', tinyKey))).status, 200);
  for (const [name, status, bytes, prepare] of everyKind(`Authorization: Bearer ${good.key}`, tinyKey, upstream)) {
    prepare?.();
    const answer = await send(gateway, bytes([`Origin: ${LISTED}`]));
    t.equal(answer.status, status, `${name}: ${status}`);
    checkHonest(t, answer, name);
    checkAllowed(t, answer, name);
    for (const origin of [['Origin: https://evil.example'], []]) {
      const { headers } = await send(gateway, bytes(origin));
      t.strictSame(
        [...headers.keys()].filter((field) => field.startsWith('access-control-')),
        [],
        `${name}: nothing for ${origin.join('') || 'no origin'}`,
      );
      t.match(
        headers.get('vary') ?? '',
        /(^|, )Origin(, |$)/,
        `${name}: a cache learns that another origin gets another answer`,
      );
    }
  }
  upstream.handle = (_seen, response) =>
    response
      .writeHead(200, { vary: 'Accept-Language', 'access-control-allow-origin': '*', 'access-control-max-age': '9' })
      .end('[]');
  const { headers } = await send(
    gateway,
    request('GET /v1/pets', `Authorization: Bearer ${good.key}`, 'Origin: https://a.b.other.example'),
  );
  t.equal(headers.get('vary'), 'Origin, Accept-Language', 'what the service varies by is kept');
  t.equal(headers.get('access-control-allow-origin'), 'https://a.b.other.example', 'one voice');
  t.notOk(headers.has('access-control-max-age'));
  t.equal(
    (await send(gateway, request('GET /docs', 'Accept-Encoding: gzip'))).headers.get('vary'),
    'Origin, Accept-Encoding',
  );
  t.equal((await send(gateway, 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n')).headers.get('vary'), 'Origin', 'half a header');
});

t.test('a preflight is answered with what its path takes, without a key and without a token', async (t) => {
  const gateway = await startGateway(t, {
    plans: PLANS,
    config: { cors: { origins: [LISTED], max_age: '1h', credentials: true } },
  });
  const preflight = (path: string, ...fields: readonly string[]): Promise<RawAnswer> =>
    send(gateway, request(`OPTIONS ${path}`, ...fields));
  const asks = [
    `Origin: ${LISTED}`,
    'Access-Control-Request-Method: POST',
    'Access-Control-Request-Headers: authorization,content-type',
    'Access-Control-Request-Private-Network: true',
  ];
  const answer = await preflight('/v1/pets', ...asks);
  t.equal(answer.status, 204);
  checkHonest(t, answer, 'preflight');
  t.match(Object.fromEntries(answer.headers), {
    'access-control-allow-origin': LISTED,
    'access-control-allow-methods': 'GET, HEAD, POST, OPTIONS',
    'access-control-allow-credentials': 'true',
    'access-control-max-age': '3600',
    'access-control-allow-headers': /Authorization, Content-Type.*traceparent/,
    allow: 'GET, HEAD, POST, OPTIONS',
    vary: 'Origin',
  });
  t.notOk(answer.headers.has('access-control-allow-private-network'));
  t.equal(
    (await preflight('/v1/pets/7', ...asks)).headers.get('access-control-allow-methods'),
    'GET, HEAD, OPTIONS',
    'only the methods of that path',
  );
  t.equal(
    (await preflight('/v1/pets', ...asks)).headers.get('x-ratelimit-remaining'),
    answer.headers.get('x-ratelimit-remaining'),
    'none of them took a token',
  );
  for (const [name, fields] of Object.entries({
    'another origin': asks.map((field) => field.replace('shop', 'evil')),
    'no origin': asks.slice(1),
    'no method': [`Origin: ${LISTED}`],
    'two origins': [...asks, `Origin: ${LISTED}`],
  }))
    t.notOk((await preflight('/v1/pets', ...fields)).headers.has('access-control-allow-methods'), `${name}: not told`);
  const unknown = await preflight('/v1/cats', ...asks);
  t.equal(unknown.status, 401, 'an unknown path is what it is without CORS');
  t.notOk(unknown.headers.has('access-control-allow-methods'));
});

t.test('open to everybody, every answer says so, and varies by nothing', async (t) => {
  const upstream = await startUpstream(t);
  const gateway = await startGateway(t, {
    plans: PLANS,
    config: {
      cors: { origins: '*' },
      upstreams: { pets: { breaker: 'off', addresses: [upstream.url], deadline: '2s' } },
    },
  });
  const { key } = await gateway.createKey({ plan: 'free' });
  for (const bytes of [
    request('GET /v1/pets', `Authorization: Bearer ${key}`),
    request('GET /v1/pets', 'Origin: null'),
    request('OPTIONS /v1/pets', 'Origin: https://a.example'),
    'BLARG\r\n\r\n',
  ]) {
    const { headers } = await send(gateway, bytes);
    t.equal(headers.get('access-control-allow-origin'), '*');
    t.notOk(headers.has('vary'));
  }
});

t.test('while the store is unavailable a page still reads why', async (t) => {
  const redis = await redisFor(t);
  const gateway = await startGateway(t, {
    config: { cors: { origins: [LISTED] }, store: { on_failure: 'refuse', deadline: '2s' } },
    environment: { REDIS_URL: redis.url },
  });
  const { key } = await gateway.createKey({ plan: 'free' });
  await redis.kill();
  await until('the store is missed', async () => {
    const answer = await send(gateway, request('GET /v1/pets', `Authorization: Bearer ${key}`, `Origin: ${LISTED}`));
    if (answer.status !== 503 || !answer.body.includes('store_unavailable')) return false;
    checkHonest(t, answer, 'store away');
    checkAllowed(t, answer, 'store away');
    return true;
  });
});

t.test('without cors nothing of it is said, and what a service says of it passes', async (t) => {
  const upstream = await startUpstream(t);
  upstream.handle = (_seen, response) => response.writeHead(200, { 'access-control-allow-origin': '*' }).end('[]');
  const gateway = await startGateway(t, { plans: PLANS, environment: { PETS_URL: upstream.url } });
  const { key } = await gateway.createKey({ plan: 'free' });
  const { headers } = await send(gateway, request('GET /v1/pets', `Authorization: Bearer ${key}`, `Origin: ${LISTED}`));
  t.equal(headers.get('access-control-allow-origin'), '*');
  t.notOk(headers.has('vary'));
  const preflight = await send(
    gateway,
    request('OPTIONS /v1/pets', `Origin: ${LISTED}`, 'Access-Control-Request-Method: GET'),
  );
  t.strictSame(
    [...preflight.headers.keys()].filter((field) => /^access-control|^vary/.test(field)),
    [],
  );
});

t.test('a WebSocket is not held to the list: a foreign page has no key to send', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const front = await startTunnelFront(t, { addresses: [upstream.url], config: { cors: { origins: [LISTED] } } });
  t.equal((await front.open(front.key, 'Origin: https://evil.example')).answer.status, 101);
  const [answer] = await exchangeRaw(front.port, handshake('/v1/pets/watch', 'Origin: https://evil.example'), 1);
  t.equal(answer?.status, 401, 'this is what a page in a browser gets: it cannot send Authorization');
});
