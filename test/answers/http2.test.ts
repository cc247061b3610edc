import t from 'tap';
import type { Test } from 'tap';
import { REFUSALS } from '../../src/gateway/refusal.js';
import { ownCertificate } from '../servers/certificate.js';
import { startGateway } from '../servers/gateway.js';
import { openHttp2, type StreamAnswer, type StreamAsk } from '../servers/http2.js';
import { startUpstream } from '../servers/upstream.js';
import { until } from '../servers/until.js';
import { checkHonest, codeOf, ELSEWHERE } from './honest.js';
import { PLANS } from './plans.js';

/** HTTP/2 has no occasion for these: its version is known, and one upstream serves. */
const NOT_HERE = new Set([...ELSEWHERE, 'upstream_unavailable', 'http_version_not_supported']);
/** Fields that HTTP/2 forbids (RFC 9113 §8.2.2). */
const OF_A_CONNECTION = ['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'te'];

function checkAnswer(t: Test, name: string, answer: StreamAnswer, status: number, code = ''): void {
  t.equal(answer.status, status, `${name}: ${status}`);
  t.equal(answer.reset, 0, `${name}: ended in order`);
  checkHonest(t, answer, name);
  for (const field of OF_A_CONNECTION) t.notOk(answer.headers.has(field), `${name}: no ${field}`);
  if (status >= 400 && code !== '') t.equal(codeOf(answer), code, `${name}: ${code}`);
}

t.test(
  'every status the gateway can give over HTTP/2 carries honest figures and an Error body, all on one connection',
  async (t) => {
    const upstream = await startUpstream(t);
    const gateway = await startGateway(t, {
      plans: PLANS,
      tls: ownCertificate(t),
      config: {
        limits: { request_time: '1s', headers_time: '1s' },
        upstreams: { pets: { addresses: [upstream.url], deadline: '2s' } },
      },
    });
    const keyOn = async (fields: Readonly<Record<string, unknown>>): Promise<string> =>
      `Bearer ${(await gateway.createKey(fields)).key}`;
    const key = await keyOn({ plan: 'wide' });
    const client = openHttp2(t, gateway.target);
    const seenCodes = new Set<string>();
    const check = async (name: string, ask: StreamAsk, status: number, code = ''): Promise<StreamAnswer> => {
      const answer = await client.send(ask);
      checkAnswer(t, name, answer, status, code);
      seenCodes.add(code);
      return answer;
    };

    t.match(await check('list', { key }, 200), { body: '[]' });
    upstream.handle = (_seen, response) =>
      response.writeHead(201, { 'content-type': 'application/json' }).end('{"id":1}');
    await check('add', { key, method: 'POST', body: '{}' }, 201);
    upstream.handle = (_seen, response) => response.end('[]');
    const long = await check('the contract', { path: '/openapi.json' }, 200);
    t.equal(long.body.length, Number(long.headers.get('content-length')), 'whole');
    t.match(await check('HEAD', { key, method: 'HEAD' }, 200), { body: '' });
    t.match(await check('HEAD of the contract', { method: 'HEAD', path: '/openapi.json' }, 200), { body: '' });
    await check('HEAD of nothing', { key, method: 'HEAD', path: '/v1/cats' }, 404);
    await check('options', { method: 'OPTIONS' }, 204);
    await check('options of all', { method: 'OPTIONS', path: '*' }, 204);
    await check('own usage', { key, path: '/v1/usage' }, 200);

    await check('scheme http', { key, fields: { ':scheme': 'http' } }, 400, 'malformed_request');
    await check('broken escape', { key, path: '/v1/%zz' }, 400, 'malformed_request');
    await check(
      'another host',
      { key, fields: { ':authority': 'localhost', host: 'elsewhere' } },
      400,
      'malformed_request',
    );
    await check('a body on GET', { key, body: '{}', method: 'GET' }, 400, 'unexpected_body');
    await check('an empty POST', { key, body: '', method: 'POST' }, 200);
    await check('an empty one', { key, body: '', method: 'GET' }, 200);
    await check('no key', {}, 401, 'missing_api_key');
    await check('no key, with a body', { method: 'POST', body: 'x'.repeat(500_000) }, 401, 'missing_api_key');
    await check('invalid key', { key: 'Bearer nonsense' }, 401, 'invalid_api_key');
    await check(
      'no scope',
      { key: await keyOn({ plan: 'wide', scopes: ['pets:read'] }), method: 'POST', body: '{}' },
      403,
      'insufficient_scope',
    );
    await check('unknown path', { key, path: '/v1/cats' }, 404, 'not_found');
    await check('unknown method', { key, method: 'DELETE' }, 405, 'method_not_allowed');
    await check(
      'declared too large',
      { key, method: 'POST', fields: { 'content-length': 1_048_577 }, body: 'x'.repeat(1_048_577) },
      413,
      'body_too_large',
    );
    await check('sent too large', { key, method: 'POST', body: 'x'.repeat(3_000_000) }, 413, 'body_too_large');
    await check('long target', { key, path: `/v1/pets?${'x'.repeat(9000)}` }, 414, 'uri_too_long');
    await check(
      'gRPC',
      { key, method: 'POST', fields: { 'content-type': 'application/grpc', te: 'trailers' }, body: 'x' },
      415,
      'grpc_not_supported',
    );
    await check('expectation', { key, fields: { expect: 'miracles' } }, 417, 'expectation_failed');
    await check('large header', { key, fields: { 'x-large': 'x'.repeat(20_000) } }, 431, 'headers_too_large');
    await check(
      'many fields',
      { key, fields: Object.fromEntries(Array.from({ length: 120 }, (_, n) => [`x-${n}`, 'a'])) },
      431,
      'headers_too_large',
    );
    await check('announced only', { key, path: '/v1/store/orders' }, 501, 'not_implemented');
    const late = client.begin({ key, method: 'POST' }, false);
    const [fields] = await new Promise<[Record<string, unknown>]>((resolve) =>
      late.once('response', (...args) => resolve(args as unknown as [Record<string, unknown>])),
    );
    t.equal(fields[':status'], 408, 'a body that never comes');
    await until('its stream is closed by the gateway', () => late.closed);
    t.equal(late.rstCode, 0);
    seenCodes.add('request_timeout');

    for (const status of [400, 404, 500]) {
      const body = JSON.stringify({ code: 'from_upstream', message: 'a message of the upstream', status });
      upstream.handle = (_seen, response) =>
        response
          .writeHead(status, {
            'content-type': 'application/json',
            connection: 'x-own',
            'x-own': '1',
            'keep-alive': 'timeout=9',
            'x-ratelimit-limit': '1',
          })
          .end(body);
      t.notOk((await check(`the upstream's own ${status}`, { key }, status)).headers.has('x-own'));
    }
    upstream.handle = (_seen, response) => response.writeHead(429).end();
    await check('upstream 429 about the gateway', { key }, 502, 'upstream_failed');
    upstream.handle = (_seen, response) =>
      response.writeHead(500, { 'content-type': 'text/html' }).end('<h1>Oops</h1>');
    await check('a page of the upstream', { key }, 500, 'upstream_error');
    const empty = await keyOn({ plan: 'prepaid' });
    await check('nothing credited', { key: empty }, 402, 'balance_exhausted');
    const narrow = await keyOn({ plan: 'narrow' });
    upstream.handle = () => undefined;
    const { length } = upstream.seen;
    const waiting = check('the first of two', { key: narrow }, 504, 'upstream_timeout');
    await until('it is in flight', () => upstream.seen.length > length);
    await check('one more', { key: narrow }, 429, 'too_many_concurrent');
    await waiting;
    await check('upstream silent', { key }, 504, 'upstream_timeout');
    upstream.handle = (_seen, response) => response.writeHead(200).end('[]');
    const tiny = await keyOn({ plan: 'tiny' });
    await check('the one request', { key: tiny }, 200);
    await check('one too many', { key: tiny }, 429, 'rate_limited');
    await check('and a second', { key: tiny }, 429, 'rate_limited');
    await check('the third starts a ban', { key: tiny }, 429, 'key_banned');
    t.same(
      Object.keys(REFUSALS).filter((code) => !seenCodes.has(code) && !NOT_HERE.has(code)),
      [],
      'no code of the catalogue was left out',
    );
    t.notOk(client.closed(), 'nothing of it cost the connection');

    const lines = gateway.exchanges();
    t.ok(
      lines.length > 30 && lines.every(({ http, address }) => http === '2' && address === '127.0.0.1'),
      'the log knows the protocol',
    );
    t.notMatch(gateway.program.output(), /warning/i);
  },
);

t.test('what is asked over HTTP/2 reaches the service as HTTP/1.1, and its answer comes back whole', async (t) => {
  const upstream = await startUpstream(t);
  const gateway = await startGateway(t, {
    plans: PLANS,
    tls: ownCertificate(t),
    environment: { PETS_URL: upstream.url },
  });
  const key = `Bearer ${(await gateway.createKey({ plan: 'wide' })).key}`;
  const client = openHttp2(t, gateway.target);
  upstream.handle = (_seen, response) => {
    response.writeHead(200, [
      'Set-Cookie',
      'a=1',
      'Set-Cookie',
      'b=2',
      'Vary',
      'a',
      'Vary',
      'b',
      'X-Latin',
      'caf\u00e9',
      'Transfer-Encoding',
      'chunked',
    ]);
    response.end(Buffer.alloc(3_000_000, 'x'));
  };
  const answer = await client.send({
    key,
    path: '/v1/./pets?limit=5',
    fields: {
      cookie: ['a=1', 'b=2', 'c=3'],
      te: 'trailers',
      'x-petgate-plan': 'enterprise',
      x_odd: '1',
      'x-request-id': 'mine',
      accept: 'a/b',
      'x-latin': 'caf\u00e9',
    },
  });
  t.match(upstream.seen[0], {
    method: 'GET',
    url: '/v1/pets?limit=5',
    headers: {
      cookie: 'a=1; b=2; c=3',
      te: undefined,
      'x-petgate-plan': 'wide',
      x_odd: '1',
      'x-request-id': 'mine',
      accept: 'a/b',
      'x-latin': 'caf\u00e9',
      authorization: 'Bearer internal-token-of-the-tests',
      host: new URL(upstream.url).host,
    },
  });
  t.equal(upstream.seen[0]!.rawHeaders.filter((name) => name.startsWith(':')).length, 0);
  t.equal(answer.body.length, 3_000_000);
  t.match(Object.fromEntries(answer.headers), { 'set-cookie': 'a=1,b=2', vary: 'a, b', 'x-latin': 'caf\u00e9' });
  for (const field of OF_A_CONNECTION) t.notOk(answer.headers.has(field), `no ${field}`);
  const body = 'y'.repeat(1_000_000);
  upstream.handle = (_seen, response) => response.end();
  t.equal((await client.send({ key, method: 'POST', body })).status, 200);
  t.ok(upstream.seen[1]?.body === body, 'a body larger than a window arrives whole');

  const waiting = client.begin({ key, method: 'POST', fields: { expect: '100-continue' } }, false);
  await new Promise((resolve) => waiting.once('continue', resolve));
  t.equal(upstream.seen.length, 2, 'who waits for 100 Continue gets it, once admitted');
  waiting.end('{}');
  await until('it is served', () => upstream.seen.length === 3);
});

t.test('an upstream that puts a body under a status that has none does not break the stream', async (t) => {
  const upstream = await startUpstream(t);
  const gateway = await startGateway(t, {
    tls: ownCertificate(t),
    environment: { PETS_URL: upstream.url },
  });
  const { key } = await gateway.createKey({ plan: 'pro' });
  const client = openHttp2(t, gateway.target);
  for (const chunked of [false, true]) {
    upstream.handle = (_seen, response) =>
      response
        .writeHead(205, {
          'content-type': 'text/plain',
          ...(chunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': '5' }),
        })
        .end('reset');
    const answer = await client.send({ key: `Bearer ${key}` });
    checkAnswer(t, '205', answer, 205);
    t.equal(answer.body, '', 'RFC 9110 §15.3.6: no content');
    t.equal(answer.headers.get('content-length') ?? '0', '0');
  }
  upstream.handle = (_seen, response) => response.end('[]');
  t.match(await client.send({ key: `Bearer ${key}` }), { status: 200, body: '[]', reset: 0 });
});
