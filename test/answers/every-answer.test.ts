import t from 'tap';
import { REFUSALS } from '../../src/gateway/refusal.js';
import { issueCertificate } from '../servers/certificate.js';
import { startGateway, type Gateway } from '../servers/gateway.js';
import { temporaryFolder } from '../servers/program.js';
import { exchangeRaw, type RawAnswer } from '../servers/raw.js';
import { until } from '../servers/until.js';
import { startUpstream } from '../servers/upstream.js';
import { checkHonest, codeOf, ELSEWHERE } from './honest.js';
import { PLANS } from './plans.js';

const seenCodes = new Set<string>();

const send = async (gateway: Gateway, bytes: string, answers = 1): Promise<RawAnswer> =>
  (await exchangeRaw(gateway.target, bytes, answers))[0]!;
const request = (line: string, ...fields: string[]): string =>
  [`${line} HTTP/1.1`, 'Host: x', ...fields, '', ''].join('\r\n');

for (const over of ['plain HTTP', 'TLS'])
  t.test(`every status the gateway can give over ${over} carries honest figures and an Error body`, async (t) => {
    const upstream = await startUpstream(t);
    const gateway = await startGateway(t, {
      plans: PLANS,
      ...(over === 'TLS' ? { tls: issueCertificate(temporaryFolder(t), 'own') } : {}),
      config: {
        limits: { headers_time: '1s', request_time: '1s' },
        upstreams: { pets: { addresses: [upstream.url], deadline: '2s', breaker: 'off' } },
      },
    });
    const good = await gateway.createKey({ plan: 'wide' });
    const reader = await gateway.createKey({ plan: 'wide', scopes: ['pets:read'] });
    const key = `Authorization: Bearer ${good.key}`;
    const check = (name: string, answer: RawAnswer | undefined, status: number, code: string): void => {
      t.equal(answer?.status, status, `${name}: ${status}`);
      if (answer === undefined) return;
      checkHonest(t, answer, name);
      if (status >= 400) t.equal(codeOf(answer), code, `${name}: ${code}`);
      seenCodes.add(code);
    };

    check('list', await send(gateway, request('GET /v1/pets', key)), 200, '');
    upstream.handle = (_seen, response) =>
      response.writeHead(201, { 'content-type': 'application/json' }).end('{"id":1}');
    check(
      'add',
      await send(gateway, request('POST /v1/pets', key, 'Content-Type: application/json', 'Content-Length: 2') + '{}'),
      201,
      '',
    );
    check('options', await send(gateway, request('OPTIONS /v1/pets', key)), 204, '');
    check('options without a key', await send(gateway, request('OPTIONS /v1/pets')), 204, '');
    check('the contract', await send(gateway, request('GET /openapi.json')), 200, '');

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
      check(name, await send(gateway, bytes), 400, 'malformed_request');
    check(
      'a body on GET',
      await send(gateway, request('GET /v1/pets', key, 'Content-Length: 2') + '{}'),
      400,
      'unexpected_body',
    );
    const chunked = 'Transfer-Encoding: chunked';
    for (const [line, piece, status, code] of [
      ['GET /v1/pets', '', 201, ''],
      ['GET /v1/pets', '2\r\n{}\r\n', 400, 'unexpected_body'],
      ['GET /v1/usage', '', 200, ''],
      ['GET /v1/usage', '2\r\n{}\r\n', 400, 'unexpected_body'],
    ] as const) {
      const bytes = `${request(line, key, chunked)}${piece}0\r\n\r\n`;
      check(`${line} with chunks: ${JSON.stringify(piece)}`, await send(gateway, bytes), status, code);
    }
    const zeros = request('GET /v1/pets', key, 'Content-Length: 00');
    check('a length of 00', await send(gateway, zeros), 201, '');
    check('no key', await send(gateway, request('GET /v1/pets')), 401, 'missing_api_key');
    check(
      'invalid key',
      await send(gateway, request('GET /v1/pets', 'Authorization: Bearer nonsense')),
      401,
      'invalid_api_key',
    );
    check('two keys', await send(gateway, request('GET /v1/pets', key, key)), 401, 'invalid_api_key');
    check('basic', await send(gateway, request('GET /v1/pets', 'Authorization: Basic abc')), 401, 'invalid_api_key');
    check(
      'no scope',
      await send(gateway, request('POST /v1/pets', `Authorization: Bearer ${reader.key}`, 'Content-Length: 0')),
      403,
      'insufficient_scope',
    );
    check('unknown path', await send(gateway, request('GET /v1/cats', key)), 404, 'not_found');
    check('unknown path, no key', await send(gateway, request('GET /v1/cats')), 401, 'missing_api_key');
    check('unknown method', await send(gateway, request('DELETE /v1/pets', key)), 405, 'method_not_allowed');
    check('trace', await send(gateway, request('TRACE /v1/pets', key)), 405, 'method_not_allowed');
    check('half a header', await send(gateway, 'GET /v1/pets HTTP/1.1\r\nHost: x\r\n'), 408, 'request_timeout');
    check(
      'half a body',
      await send(gateway, request('POST /v1/pets', key, 'Content-Length: 9') + '{'),
      408,
      'request_timeout',
    );
    check(
      'declared too large',
      await send(gateway, request('POST /v1/pets', key, 'Content-Length: 1048577')),
      413,
      'body_too_large',
    );
    check(
      'sent too large',
      await send(
        gateway,
        `${request('POST /v1/pets', key, 'Transfer-Encoding: chunked')}100001\r\n${'x'.repeat(0x100001)}\r\n0\r\n\r\n`,
      ),
      413,
      'body_too_large',
    );
    check('long target', await send(gateway, request(`GET /v1/pets?${'x'.repeat(9000)}`, key)), 414, 'uri_too_long');
    check(
      'gRPC',
      await send(gateway, `${request('POST /v1/pets', key, 'Content-Type: application/grpc', 'Content-Length: 1')}x`),
      415,
      'grpc_not_supported',
    );
    check(
      'expectation',
      await send(gateway, request('GET /v1/pets', key, 'Expect: miracles')),
      417,
      'expectation_failed',
    );
    check(
      'large header',
      await send(gateway, request('GET /v1/pets', key, `X-Large: ${'x'.repeat(20_000)}`)),
      431,
      'headers_too_large',
    );
    check(
      'many fields',
      await send(gateway, request('GET /v1/pets', key, ...Array<string>(120).fill('a:'))),
      431,
      'headers_too_large',
    );
    check('announced only', await send(gateway, request('GET /v1/store/orders', key)), 501, 'not_implemented');
    check(
      'HTTP/2.0 by name',
      await send(gateway, 'GET /v1/pets HTTP/2.0\r\nHost: x\r\n\r\n'),
      505,
      'http_version_not_supported',
    );

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
      check(
        `upstream ${status} about the gateway`,
        await send(gateway, request('GET /v1/pets', key)),
        502,
        'upstream_failed',
      );
    }
    upstream.handle = (_seen, response) =>
      response.writeHead(500, { 'content-type': 'text/html' }).end('<h1>Oops</h1>');
    check('a page of the upstream', await send(gateway, request('GET /v1/pets', key)), 500, 'upstream_error');
    upstream.handle = (_seen, response) => response.socket!.end('HTTP/1.1 999 Odd\r\n\r\nrubbish');
    check('upstream rubbish', await send(gateway, request('GET /v1/pets', key)), 502, 'upstream_failed');
    upstream.handle = (_seen, response) => response.socket!.destroy();
    check(
      'upstream hangs up',
      await send(gateway, request('POST /v1/pets', key, 'Content-Length: 2') + '{}'),
      502,
      'upstream_failed',
    );
    const narrow = await gateway.createKey({ plan: 'narrow' });
    const narrowKey = `Authorization: Bearer ${narrow.key}`;
    upstream.handle = () => undefined;
    const waiting = send(gateway, request('GET /v1/pets', narrowKey));
    const { length } = upstream.seen;
    await until('it is in flight', () => upstream.seen.length > length);
    check('one more', await send(gateway, request('GET /v1/pets', narrowKey)), 429, 'too_many_concurrent');
    check('the first', await waiting, 504, 'upstream_timeout');
    check('upstream silent', await send(gateway, request('GET /v1/pets', key)), 504, 'upstream_timeout');

    const empty = await gateway.createKey({ plan: 'prepaid' });
    const emptyKey = `Authorization: Bearer ${empty.key}`;
    check('nothing credited', await send(gateway, request('GET /v1/pets', emptyKey)), 402, 'balance_exhausted');

    const tiny = await gateway.createKey({ plan: 'tiny' });
    const tinyKey = `Authorization: Bearer ${tiny.key}`;
    upstream.handle = (_seen, response) => response.writeHead(200).end('[]');
    check('the one request', await send(gateway, request('GET /v1/pets', tinyKey)), 200, '');
    check('one too many', await send(gateway, request('GET /v1/pets', tinyKey)), 429, 'rate_limited');
    check('and a second', await send(gateway, request('GET /v1/cats', tinyKey)), 429, 'rate_limited');
    check('the third starts a ban', await send(gateway, request('GET /v1/pets', tinyKey)), 429, 'key_banned');
    check('while banned', await send(gateway, request('GET /v1/pets', tinyKey)), 429, 'key_banned');
    check('options while banned', await send(gateway, request('OPTIONS /v1/pets', tinyKey)), 204, '');
    const boundless = await gateway.createKey({
      plan: 'enterprise',
      limits: { minute: 'unlimited', day: 'unlimited' },
    });
    const unlimited = await send(gateway, request('GET /v1/pets', `Authorization: Bearer ${boundless.key}`));
    check('unlimited', unlimited, 200, '');
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
