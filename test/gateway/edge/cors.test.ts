import fc from 'fast-check';
import t from 'tap';
import type { CredentialLocations } from '../../../src/gateway/refusals/credential-location.js';
import { createCors, originIn, type Cors } from '../../../src/gateway/edge/cors.js';

const settings = {
  headers: ['Authorization', 'Content-Type'],
  expose: ['X-RateLimit-Limit', 'Link'],
  max_age: 600_000,
  credentials: false,
} as const;
const REST = ['Access-Control-Expose-Headers', 'X-RateLimit-Limit, Link'];
const corsFor = (...origins: readonly string[]): Cors => createCors({ ...settings, origins }, ['bearer']);
const allowed = (cors: Cors, origin: string): boolean =>
  cors.fieldsFor(['Origin', origin])[0] === 'Access-Control-Allow-Origin';

t.test('a listed origin is named back, every other and none gets Vary alone', (t) => {
  const cors = corsFor('https://app.example.com', 'http://localhost:5173');
  t.same(cors.fieldsFor(['Accept', 'a/b', 'oRiGiN', 'https://app.example.com']), [
    'Access-Control-Allow-Origin',
    'https://app.example.com',
    ...REST,
    'Vary',
    'Origin',
  ]);
  for (const headers of [
    [],
    ['Origin', 'https://evil.example'],
    ['Origin', 'null'],
    ['Origin', 'https://app.example.com', 'Origin', 'https://app.example.com'],
    ['Origin', 'https://app.example.com https://evil.example'],
  ]) {
    t.same(cors.fieldsFor(headers), ['Vary', 'Origin'], headers.join(' '));
  }
  for (const near of [
    'http://app.example.com',
    'https://app.example.com:8443',
    'https://app.example.com.evil.example',
    'https://appXexample.com',
    'HTTPS://app.example.com',
    'https://app.example.com/',
  ])
    t.notOk(allowed(cors, near), near);
  t.end();
});

t.test('a pattern takes one label or more in front, and nothing else', (t) => {
  const cors = corsFor('https://*.example.com', 'http://*.dev.test:8080');
  for (const origin of [
    'https://a.example.com',
    'https://a.b.example.com',
    'https://a-b_c.example.com',
    'http://x.dev.test:8080',
  ])
    t.ok(allowed(cors, origin), origin);
  for (const origin of [
    'https://example.com',
    'https://.example.com',
    'https://a..example.com',
    'https://evilexample.com',
    'https://a.exampleXcom',
    'https://a.example.com.evil.test',
    'https://evil.test/.example.com',
    'https://evil.test#.example.com',
    'https://user@a.example.com',
    'https://a.example.com:444',
    'http://a.example.com',
    'http://x.dev.test',
    'https://a.example.com\nX: y',
    'https://ä.example.com',
  ])
    t.notOk(allowed(cors, origin), origin);
  t.end();
});

t.test(
  'whatever is sent as Origin, it is named back only letter by letter and only with characters of an origin',
  (t) => {
    const cors = corsFor('https://app.example.com', 'https://*.example.com');
    const origin = fc.oneof(fc.string(), fc.stringMatching(/^https:\/\/[a-z.*@:/\r\n-]{0,12}\.example\.com.{0,3}$/));
    fc.assert(
      fc.property(origin, (text) => {
        const [name, value] = cors.fieldsFor(['Origin', text]);
        return name === 'Vary' || (value === text && /^https:\/\/[a-z0-9._-]+\.example\.com$/.test(text));
      }),
      { numRuns: 2000 },
    );
    t.end();
  },
);

t.test('open to every origin, all get the same, which varies by nothing', (t) => {
  const cors = createCors({ ...settings, origins: '*' }, ['bearer']);
  for (const headers of [[], ['Origin', 'https://any.example'], ['Origin', 'null']])
    t.equal(cors.fieldsFor(headers), cors.fieldsFor([]), 'made once');
  t.same(cors.fieldsFor([]), ['Access-Control-Allow-Origin', '*', ...REST]);
  t.end();
});

t.test('with credentials it says so, to whom it allows anything', (t) => {
  const cors = createCors({ ...settings, origins: ['https://app.example.com'], credentials: true }, ['bearer']);
  t.same(cors.fieldsFor(['Origin', 'https://app.example.com']), [
    'Access-Control-Allow-Origin',
    'https://app.example.com',
    ...REST,
    'Access-Control-Allow-Credentials',
    'true',
    'Vary',
    'Origin',
  ]);
  t.same(cors.fieldsFor(['Origin', 'https://evil.example']), ['Vary', 'Origin']);
  t.end();
});

t.test('a preflight is told methods, fields and for how long; no other OPTIONS is', (t) => {
  const ask = ['Origin', 'https://app.example.com', 'Access-Control-Request-Method', 'POST'];
  for (const cors of [corsFor('https://app.example.com'), createCors({ ...settings, origins: '*' }, ['bearer'])]) {
    t.same(cors.preflightFields(ask, 'GET, POST'), [
      'Access-Control-Allow-Methods',
      'GET, POST',
      'Access-Control-Allow-Headers',
      'Authorization, Content-Type',
      'Access-Control-Max-Age',
      '600',
    ]);
    t.same(cors.preflightFields(ask.slice(0, 2), 'GET'), [], 'without a method it is none');
    t.same(cors.preflightFields(ask.slice(2), 'GET'), [], 'without an origin it is none');
  }
  t.same(corsFor('https://other.example').preflightFields(ask, 'GET'), [], 'an origin that is not listed');
  t.end();
});

t.test('of a request that could not be read the origin is found where it stands', (t) => {
  const found = (text: string): readonly string[] => originIn(Buffer.from(text));
  t.same(found('GET / HTTP/1.1\r\nHost: x\r\nORIGIN:https://a.example.com \r\nX: y\r\n\r\n'), [
    'Origin',
    'https://a.example.com',
  ]);
  t.same(found('GET / HTTP/1.1\r\nOrigin: https://a.example.com'), ['Origin', 'https://a.example.com']);
  t.same(
    found('GET / HTTP/1.1\r\nOrigin: a\r\nOrigin: b\r\n'),
    ['Origin', 'a', 'Origin', 'b'],
    'both, so that neither counts',
  );
  t.same(
    found('POST / HTTP/1.1\r\nX-Origin: a\r\n\r\n\r\nOrigin: b\r\n'),
    [],
    'not in other fields, and not in a body',
  );
  t.same(originIn(undefined), []);
  const blanks = ' '.repeat(60_000);
  t.same(found(`GET / HTTP/1.1\r\nOrigin:${blanks}\r`), ['Origin', ''], 'however many blanks it has');
  t.end();
});

t.test('pages may send their keys, wherever those are read', (t) => {
  const ask = ['Origin', 'https://app.example.com', 'Access-Control-Request-Method', 'GET'];
  const fieldsFor = (...locations: CredentialLocations): string | undefined =>
    createCors({ ...settings, headers: ['x-api-key'], origins: '*' }, locations).preflightFields(ask, 'GET')[3];
  t.equal(fieldsFor('bearer', { basic: 'username' }), 'x-api-key, Authorization');
  t.equal(fieldsFor({ header: 'X-API-Key' }, { query: 'api_key' }, { header: 'X-Key' }), 'x-api-key, X-Key');
  t.end();
});
