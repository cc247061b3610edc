import t from 'tap';
import { ownAddressesOf, rewrittenCookie, rewrittenLocation } from '../../../src/gateway/upstream/own-addresses.js';
import { makeExchange } from '../exchange.js';
import { upstreamSettings } from './settings.js';

const OWN = ownAddressesOf(
  upstreamSettings({
    addresses: ['http://10.0.0.7:3000', 'https://API.internal/api', 'http://app', 'unix:/run/app.sock'],
    strip_prefix: '/v1',
  }),
);
const { exchange } = makeExchange({ scheme: 'https', publicHost: 'api.example.com' });

t.test("a Location on one of the upstream's own addresses leads to the gateway, back through its paths", (t) => {
  for (const [said, meant] of [
    ['http://10.0.0.7:3000/pets/7?x=1#y', '/v1/pets/7?x=1#y'],
    ['HTTP://10.0.0.7:3000', '/v1/'],
    ['http://10.0.0.7:3000?x=1', '/v1/?x=1'],
    ['https://api.internal/api/pets/7', '/v1/pets/7'],
    ['https://api.internal:443/api', '/v1/'],
    ['http://app:80/pets', '/v1/pets'],
    ['http://localhost/pets', '/v1/pets'],
  ] as const)
    t.equal(rewrittenLocation(said, OWN, exchange), `https://api.example.com${meant}`, said);
  t.end();
});

t.test('any other stays as the upstream wrote it', (t) => {
  for (const said of [
    '/pets/7',
    '7',
    'http://10.0.0.7/pets',
    'https://10.0.0.7:3000/pets',
    'http://10.0.0.7:3000.example.com/pets',
    'http://user@elsewhere/pets',
    'https://api.internal/other',
    'https://api.internal/apis',
    'https://accounts.example.com/login',
    'http://[/',
    '',
  ])
    t.equal(rewrittenLocation(said, OWN, exchange), said, said);
  t.end();
});

t.test('for a client that named no host it is a path alone', (t) => {
  const { exchange: nameless } = makeExchange({ publicHost: null });
  t.equal(rewrittenLocation('http://app/pets', OWN, nameless), '/v1/pets');
  t.end();
});

t.test("a cookie for the upstream's name is for the host that the client called; any other stays", (t) => {
  t.equal(rewrittenCookie('a=1; Domain=api.internal; Path=/', OWN), 'a=1; Path=/');
  t.equal(rewrittenCookie('a=1;domain= .API.internal ;Secure', OWN), 'a=1;Secure');
  t.equal(rewrittenCookie('domain=app; Path=/', OWN), 'domain=app; Path=/', 'a cookie may be called so');
  t.equal(rewrittenCookie('a=1; Path=/; Domain=10.0.0.7', OWN), 'a=1; Path=/');
  for (const other of ['a=1; Domain=example.com', 'a=Domain=app', 'a=1; XDomain=app', 'a=1'])
    t.equal(rewrittenCookie(other, OWN), other);
  t.end();
});
