import t from 'tap';
import { cookiesIn, setCookie } from '../../../src/gateway/pages/cookie.js';
import { isOwnOrigin } from '../../../src/gateway/pages/origin.js';

const ACCOUNT = { name: 'petgate-account', path: '/account', secure: true };

t.test('over TLS a cookie is for TLS only, by its name too', (t) => {
  t.equal(
    setCookie(ACCOUNT, 'v1.x'),
    '__Secure-petgate-account=v1.x; Path=/account; HttpOnly; SameSite=Strict; Secure',
  );
  t.equal(
    setCookie({ ...ACCOUNT, secure: false }, 'v1.x'),
    'petgate-account=v1.x; Path=/account; HttpOnly; SameSite=Strict',
  );
  t.match(setCookie(ACCOUNT, ''), /^__Secure-petgate-account=; .*Secure; Max-Age=0$/);
  t.end();
});

t.test('all cookies of that name are read, among others and from several fields', (t) => {
  for (const [fields, values] of [
    [['a=1; __Secure-petgate-account=v1.x;b=2'], ['v1.x']],
    [['a=1', '__Secure-petgate-account=v1.x'], ['v1.x']],
    [['__Secure-petgate-account=v1.x; __Secure-petgate-account=v1.y'], ['v1.x', 'v1.y']],
    [
      ['__Secure-petgate-account=v1.x', '__Secure-petgate-account=v1.y'],
      ['v1.x', 'v1.y'],
    ],
    [[], []],
    [['petgate-account=v1.x'], []],
    [['x__Secure-petgate-account=v1.x'], []],
  ] as const)
    t.same(cookiesIn(fields, ACCOUNT), values, fields.join(' | '));
  t.end();
});

t.test('a form of this origin names it, and nothing else will do', (t) => {
  t.ok(isOwnOrigin('https://api.example', 'api.example', true));
  t.ok(isOwnOrigin('http://127.0.0.1:8080', '127.0.0.1:8080', false));
  for (const [origin, host, secure] of [
    [null, 'api.example', true],
    ['null', 'api.example', true],
    ['https://api.example', null, true],
    ['http://api.example', 'api.example', true],
    ['https://api.example', 'api.example', false],
    ['https://evil.example', 'api.example', true],
    ['https://api.example.evil', 'api.example', true],
    ['https://api.example:8443', 'api.example', true],
    ['https://', '', true],
  ] as const)
    t.notOk(isOwnOrigin(origin, host, secure), `${origin} at ${host}`);
  t.end();
});
