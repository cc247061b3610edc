import t from 'tap';
import { INTERNAL_TOKEN } from '../servers/gateway.js';
import { startUpstream } from '../servers/upstream.js';
import { request, startFront } from './front.js';

const CONNECTIONS = 2;

/**
 * The attack: a request that the HTTP client towards the upstream refuses to send costs one of
 * its pool's connections for ever. After as many as there are connections everything waits for ever,
 * so one client without a budget stops the gateway for all.
 */
t.test('no request costs a connection of the pool: after connections + 1 of each a good one is 200', async (t) => {
  const upstream = await startUpstream(t);
  const front = await startFront(t, upstream.url, { pets: { connections: CONNECTIONS, deadline: '2s' } });
  const { key } = front;
  const chunked = '2\r\n{}\r\n0\r\n\r\n';
  const hostile: Readonly<Record<string, readonly [string, number]>> = {
    'Expect: 100-continue with a body': [
      `${request('POST /v1/pets', key, 'Expect: 100-continue', 'Content-Length: 2')}{}`,
      200,
    ],
    'Expect on GET': [request('GET /v1/pets', key, 'Expect: 100-continue'), 200],
    'OPTIONS *': [request('OPTIONS *', key), 204],
    Upgrade: [request('GET /v1/pets', key, 'Connection: Upgrade', 'Upgrade: websocket'), 200],
    'Upgrade to h2c': [
      request('GET /v1/pets', key, 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'),
      200,
    ],
    'Keep-Alive': [request('GET /v1/pets', key, 'Connection: keep-alive', 'Keep-Alive: timeout=1000'), 200],
    'Transfer-Encoding': [request('POST /v1/pets', key, 'Transfer-Encoding: chunked') + chunked, 200],
    'Proxy-Connection': [request('GET /v1/pets', key, 'Proxy-Connection: keep-alive'), 200],
    'TE and Trailer': [request('GET /v1/pets', key, 'TE: trailers', 'Trailer: X-Odd'), 200],
    'a value of Latin-1': [request('GET /v1/pets', key, 'X-Odd: caf\u00e9 \u00ff'), 200],
    'a value of UTF-8': [request('GET /v1/pets', key, `X-Odd: ${Buffer.from('☃').toString('latin1')}`), 200],
    'a value with a control byte': [request('GET /v1/pets', key, 'X-Odd: a\u0001b'), 400],
    'a value with DEL': [request('GET /v1/pets', key, 'X-Odd: a\u007fb'), 400],
    'a value with NUL': [request('GET /v1/pets', key, 'X-Odd: a\u0000b'), 400],
    'two Content-Types': [request('GET /v1/pets', key, 'Content-Type: a/b', 'Content-Type: c/d'), 200],
    'a pseudo header': [request('GET /v1/pets', key, ':path: /v1/other'), 400],
    'a path without a slash': [request('GET v1/pets', key), 400],
    'a path with two slashes': [request('GET //v1/pets', key), 404],
    'a path of raw UTF-8': [request(`GET /v1/pets/${Buffer.from('☃').toString('latin1')}`, key), 400],
    'a query of odd bytes': [request('GET /v1/pets?a=\u00ff', key), 400],
    'escaped CR and LF': [request('GET /v1/pets?a=%0d%0aX-Odd:%201', key), 400],
    'a method nobody knows': [request('BREW /v1/pets', key), 400],
    'a method few know': [request('M-SEARCH /v1/pets', key), 405],
    CONNECT: [request('CONNECT pets.example:80', key), 400],
    'a header named __proto__': [request('GET /v1/pets', key, '__proto__: x', 'constructor: y', 'toString: z'), 200],
  };
  for (const [name, [bytes, status]] of Object.entries(hostile)) {
    for (let n = 0; n <= CONNECTIONS; n += 1) {
      const answer = await front.send(Buffer.from(bytes, 'latin1'));
      t.equal(answer.status, status, `${name}: ${status}`);
    }
    t.equal(await front.good(), 200, `and after ${name} a good request is 200`);
  }
  await front.idle();
  t.ok(
    upstream.seen.every(({ headers }) => headers.authorization === `Bearer ${INTERNAL_TOKEN}`),
    'the upstream saw our token alone',
  );
  for (const field of [
    'expect',
    'upgrade',
    'keep-alive',
    'proxy-connection',
    'te',
    'trailer',
    'http2-settings',
    'transfer-encoding',
  ]) {
    t.notOk(
      upstream.seen.some(({ headers }) => field in headers),
      `nobody forwarded ${field}`,
    );
  }
});
