import fc from 'fast-check';
import t from 'tap';
import { originFault } from '../../../../src/gateway/config/schema/origin.js';

t.test('origins as browsers write them are taken, and patterns of them', (t) => {
  for (const origin of [
    'https://app.example.com',
    'http://localhost',
    'http://localhost:5173',
    'http://127.0.0.1:3000',
    'http://[::1]:3000',
    'https://xn--bcher-kva.example',
    'https://*.example.com',
    'https://*.shop.example.com:8443',
    'capacitor://localhost',
    'chrome-extension://abcdefghijklmnop',
  ])
    t.equal(originFault(origin), null, origin);
  t.end();
});

t.test('what no browser would write is refused, and the message says what is wrong', (t) => {
  for (const [origin, what] of [
    ['*', /without a list/],
    ['null', /sandboxed/],
    ['', /such as https/],
    ['app.example.com', /such as https/],
    ['https://app.example.com/', /slash/],
    ['https://app.example.com/shop', /path/],
    ['https://App.example.com', /lower case/],
    ['HTTPS://app.example.com', /lower case/],
    ['https://user@app.example.com', /such as/],
    ['https://app.example.com?x', /such as/],
    ['https://bücher.example', /such as/],
    ['https://a.example.com, https://b.example.com', /such as/],
    ['https://a.example.com\r\nX: y', /such as/],
    ['https://app.example.com:443', /443 for https/],
    ['http://app.example.com:80', /80 for http/],
    ['https://app.example.com:99999', /usual form/],
    ['http://127.1', /usual form/],
    ['http://[0:0::1]', /usual form/],
    ['https://*', /such as/],
    ['https://*.com', /two parts/],
    ['https://*.', /such as|two parts/],
    ['https://*.127.0.0.1', /two parts/],
    ['https://*example.com', /such as/],
    ['https://a.*.example.com', /such as/],
    ['*://app.example.com', /such as/],
  ] as const)
    t.match(originFault(origin) ?? 'taken', what, origin);
  t.end();
});

t.test('every origin of a web address is taken as its browser sends it', (t) => {
  fc.assert(
    fc.property(
      fc.webUrl({ validSchemes: ['http', 'https'], withFragments: true }),
      (url) => originFault(new URL(url).origin) === null,
    ),
  );
  t.end();
});
