import t from 'tap';
import { REFUSALS } from '../../src/gateway/refusal.js';
import { request } from '../attacks/front.js';
import { ownCertificate } from '../servers/certificate.js';
import { startGateway, type Gateway } from '../servers/gateway.js';
import { exchangeRaw, type RawAnswer } from '../servers/raw.js';
import { until } from '../servers/until.js';
import { startUpstream } from '../servers/upstream.js';
import { checkHonest, codeOf, ELSEWHERE } from './honest.js';
import { PLANS } from './plans.js';

const seenCodes = new Set<string>();

const send = async (gateway: Gateway, bytes: string): Promise<RawAnswer> =>
  (await exchangeRaw(gateway.target, bytes, 1))[0]!;

for (const over of ['plain HTTP', 'TLS'])
  t.test(`every status the gateway can give over ${over} carries honest figures and an Error body`, async (t) => {
    const upstream = await startUpstream(t);
    const gateway = await startGateway(t, {
      plans: PLANS,
      ...(over === 'TLS' ? { tls: ownCertificate(t) } : {}),
      config: {
        limits: { headers_time: '1s', request_time: '1s' },
        upstreams: { pets: { addresses: [upstream.url], deadline: '2s', breaker: 'off' } },
      },
    });
    const good = await gateway.createKey({ plan: 'wide' });
    const reader = await gateway.createKey({ plan: 'wide', scopes: ['pets:read'] });
    const key = `Authorization: Bearer ${good.key}`;
    const check = async (
      name: string,
      asked: string | Promise<RawAnswer>,
      status: number,
      code = '',
    ): Promise<RawAnswer> => {
      const answer = await (typeof asked === 'string' ? send(gateway, asked) : asked);
      t.equal(answer.status, status, `${name}: ${status}`);
      checkHonest(t, answer, name);
      if (status >= 400) t.equal(codeOf(answer), code, `${name}: ${code}`);
      seenCodes.add(code);
      return answer;
    };

    await check('list', request('GET /v1/pets', key), 200);
    upstream.handle = (_seen, response) =>
      response.writeHead(201, { 'content-type': 'application/json' }).end('{"id":1}');
    await check(
      'add',
      request('POST /v1/pets', key, 'Content-Type: application/json', 'Content-Length: 2') + '{}',
      201,
    );
    await check('options', request('OPTIONS /v1/pets', key), 204);
    await check('options without a key', request('OPTIONS /v1/pets'), 204);
    await check('the contract', request('GET /openapi.json'), 200);

    for (const [name, bytes] of Object.entries({
      'no Host': 'GET /v1/pets HTTP/1.1\r\n\r\n',
      'two Hosts': request('GET /v1/pets', 'Host: y'),
      'not HTTP': 'BLARG\r\n\r\n',
      'absolute form with a user': request('GET http://user@x/v1/pets', key),
      'broken escape': request('GET /v1/%zz', key),
      fragment: request('GET /v1/pets#a', key),
      'gzip framing': request('POST /v1/pets', key, 'Transfer-Encoding: gzip, chunked') + '0\r\n\r\n',
      'length and chunked':
        request('POST /v1/pets', key, 'Content-Length: 3', 'Transfer-Encoding: chunked') + '0\r\n\r\n',
      'broken chunk': request('POST /v1/pets', key, 'Transfer-Encoding: chunked') + 'zz\r\n',
      CONNECT: request('CONNECT x:80', key),
    }))
      await check(name, bytes, 400, 'malformed_request');
    await check('a body on GET', request('GET /v1/pets', key, 'Content-Length: 2') + '{}', 400, 'unexpected_body');
    const chunked = 'Transfer-Encoding: chunked';
    for (const [line, piece, status, code] of [
      ['GET /v1/pets', '', 201, ''],
      ['GET /v1/pets', '2\r\n{}\r\n', 400, 'unexpected_body'],
      ['GET /v1/usage', '', 200, ''],
      ['GET /v1/usage', '2\r\n{}\r\n', 400, 'unexpected_body'],
    ] as const) {
      const bytes = `${request(line, key, chunked)}${piece}0\r\n\r\n`;
      await check(`${line} with chunks: ${JSON.stringify(piece)}`, bytes, status, code);
    }
    const zeros = request('GET /v1/pets', key, 'Content-Length: 00');
    await check('a length of 00', zeros, 201);
    await check('no key', request('GET /v1/pets'), 401, 'missing_api_key');
    await check('invalid key', request('GET /v1/pets', 'Authorization: Bearer nonsense'), 401, 'invalid_api_key');
    await check('two keys', request('GET /v1/pets', key, key), 401, 'invalid_api_key');
    await check('basic', request('GET /v1/pets', 'Authorization: Basic abc'), 401, 'invalid_api_key');
    await check(
      'no scope',
      request('POST /v1/pets', `Authorization: Bearer ${reader.key}`, 'Content-Length: 0'),
      403,
      'insufficient_scope',
    );
    await check('unknown path', request('GET /v1/cats', key), 404, 'not_found');
    await check('unknown path, no key', request('GET /v1/cats'), 401, 'missing_api_key');
    await check('unknown method', request('DELETE /v1/pets', key), 405, 'method_not_allowed');
    await check('trace', request('TRACE /v1/pets', key), 405, 'method_not_allowed');
    await check('half a header', 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n', 408, 'request_timeout');
    await check('half a body', request('POST /v1/pets', key, 'Content-Length: 9') + '{', 408, 'request_timeout');
    await check('declared too large', request('POST /v1/pets', key, 'Content-Length: 1048577'), 413, 'body_too_large');
    await check(
      'sent too large',
      `${request('POST /v1/pets', key, 'Transfer-Encoding: chunked')}100001\r\n${'x'.repeat(0x100001)}\r\n0\r\n\r\n`,
      413,
      'body_too_large',
    );
    await check('long target', request(`GET /v1/pets?${'x'.repeat(9000)}`, key), 414, 'uri_too_long');
    await check(
      'gRPC',
      `${request('POST /v1/pets', key, 'Content-Type: application/grpc', 'Content-Length: 1')}x`,
      415,
      'grpc_not_supported',
    );
    await check('expectation', request('GET /v1/pets', key, 'Expect: miracles'), 417, 'expectation_failed');
    await check(
      'large header',
      request('GET /v1/pets', key, `X-Large: ${'x'.repeat(20_000)}`),
      431,
      'headers_too_large',
    );
    await check(
      'many fields',
      request('GET /v1/pets', key, ...Array<string>(120).fill('a:')),
      431,
      'headers_too_large',
    );
    await check('announced only', request('GET /v1/store/orders', key), 501, 'not_implemented');
    await check('HTTP/2.0 by name', 'GET /v1/pets HTTP/2.0\r\nHost: x\r\n\r\n', 505, 'http_version_not_supported');

    for (const status of [400, 404, 415, 500, 503]) {
      const body = JSON.stringify({ code: 'from_upstream', message: 'a message of the upstream', status });
      upstream.handle = (_seen, response) =>
        response
          .writeHead(status, {
            'content-type': 'application/json',
            'retry-after': '7',
            'x-ratelimit-limit': '1',
            ratelimit: 'x',
          })
          .end(body);
      const answer = await send(gateway, request('GET /v1/pets', key));
      t.equal(answer.status, status, `the upstream's own ${status} comes through`);
      if (status !== 503) checkHonest(t, answer, `upstream ${status}`);
    }
    for (const status of [401, 403, 407, 429]) {
      upstream.handle = (_seen, response) => response.writeHead(status, { 'www-authenticate': 'Internal' }).end();
      const name = `upstream ${status} about the gateway`;
      const { headers } = await check(name, request('GET /v1/pets', key), 502, 'upstream_failed');
      t.notOk(headers.has('www-authenticate'), `${name}: no challenge`);
    }
    upstream.handle = (_seen, response) =>
      response.writeHead(500, { 'content-type': 'text/html' }).end('<h1>Oops</h1>');
    await check('a page of the upstream', request('GET /v1/pets', key), 500, 'upstream_error');
    upstream.handle = (_seen, response) => response.socket!.end('HTTP/1.1 999 Odd\r\n\r\nrubbish');
    await check('upstream rubbish', request('GET /v1/pets', key), 502, 'upstream_failed');
    upstream.handle = (_seen, response) => response.socket!.destroy();
    await check('upstream hangs up', request('POST /v1/pets', key, 'Content-Length: 2') + '{}', 502, 'upstream_failed');
    const narrow = await gateway.createKey({ plan: 'narrow' });
    const narrowKey = `Authorization: Bearer ${narrow.key}`;
    upstream.handle = () => undefined;
    const waiting = send(gateway, request('GET /v1/pets', narrowKey));
    const { length } = upstream.seen;
    await until('it is in flight', () => upstream.seen.length > length);
    await check('one more', request('GET /v1/pets', narrowKey), 429, 'too_many_concurrent');
    await check('the first', waiting, 504, 'upstream_timeout');
    await check('upstream silent', request('GET /v1/pets', key), 504, 'upstream_timeout');

    const empty = await gateway.createKey({ plan: 'prepaid' });
    const emptyKey = `Authorization: Bearer ${empty.key}`;
    await check('nothing credited', request('GET /v1/pets', emptyKey), 402, 'balance_exhausted');

    const tiny = await gateway.createKey({ plan: 'tiny' });
    const tinyKey = `Authorization: Bearer ${tiny.key}`;
    upstream.handle = (_seen, response) => response.writeHead(200).end('[]');
    await check('the one request', request('GET /v1/pets', tinyKey), 200);
    await check('one too many', request('GET /v1/pets', tinyKey), 429, 'rate_limited');
    await check('and a second', request('GET /v1/cats', tinyKey), 429, 'rate_limited');
    await check('the third starts a ban', request('GET /v1/pets', tinyKey), 429, 'key_banned');
    await check('while banned', request('GET /v1/pets', tinyKey), 429, 'key_banned');
    await check('options while banned', request('OPTIONS /v1/pets', tinyKey), 204);
    const boundless = await gateway.createKey({
      plan: 'enterprise',
      limits: { minute: 'unlimited', day: 'unlimited' },
    });
    const unlimited = await check('unlimited', request('GET /v1/pets', `Authorization: Bearer ${boundless.key}`), 200);
    t.equal(
      unlimited.headers.get('x-ratelimit-limit'),
      '9007199254740991',
      'unlimited shows the largest exact integer',
    );
  });

t.test('an upstream that cannot be reached is 503 with figures', async (t) => {
  const gateway = await startGateway(t, { config: { upstreams: { pets: { addresses: ['http://127.0.0.1:1'] } } } });
  const { key } = await gateway.createKey({ plan: 'free' });
  const answer = await send(gateway, request('GET /v1/pets', `Authorization: Bearer ${key}`));
  t.equal(answer.status, 503);
  t.equal(codeOf(answer), 'upstream_unavailable');
  checkHonest(t, answer, 'upstream away');
  seenCodes.add('upstream_unavailable');
});

t.test('no code of the catalogue was left out', (t) => {
  t.same(
    Object.keys(REFUSALS).filter((code) => !seenCodes.has(code) && !ELSEWHERE.has(code)),
    [],
  );
  t.end();
});
