import t from 'tap';
import { toRouted, toStripped, type Identified } from '../../../src/gateway/exchange.js';
import { createIdentify } from '../../../src/gateway/accounts/identify.js';
import { makeToken } from '../../../src/gateway/accounts/token.js';
import { makeExchange } from '../exchange.js';

const REQUIREMENTS = {
  operation: 'listPets',
  reportsAs: 'listPets',
  scope: null,
  cost: 1,
  metered: null,
  secured: true,
  match: null,
  refusal: null,
} as const;
const { token, id, secretHash } = makeToken('production');

function identified(authorization: string | null, acceptImported = false): Identified {
  const { exchange } = makeExchange({ authorization, addressBucket: '2001:db8:0:0' });
  return createIdentify('production', acceptImported)(toRouted(toStripped(exchange, []), REQUIREMENTS));
}

t.test('a bearer token of good form names its key, however the scheme is spelled', (t) => {
  for (const scheme of ['Bearer ', 'bearer ', 'BEARER ', 'Bearer   ']) {
    const { subject, credential } = identified(`${scheme}${token}`);
    t.same(subject, { kind: 'key', id, secretHash }, scheme);
    t.equal(credential, 'key');
  }
  t.same(identified(`Bearer ${token}  `).subject, { kind: 'key', id, secretHash }, 'spaces behind it do not count');
  t.end();
});

t.test("anything else leaves the caller's address as the subject", (t) => {
  const address = { kind: 'address', address: '2001:db8:0:0' };
  t.same([identified(null).subject, identified(null).credential], [address, 'missing']);
  const slipped = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`;
  for (const bad of [
    '',
    'Bearer',
    'Bearer ',
    `Bearer ${token} x`,
    `Bearer\t${token}`,
    `Bearer ${token},Bearer x`,
    `Bearer ${slipped}`,
    'Bearer something-of-another-form',
  ]) {
    const { subject, credential } = identified(bad);
    t.same(subject, address, bad.slice(0, 12));
    t.equal(credential, 'malformed');
  }
  t.end();
});

t.test('a key without its scheme, and one of another environment, are named as such', (t) => {
  const address = { kind: 'address', address: '2001:db8:0:0' };
  for (const [authorization, flaw] of [
    [token, 'no_scheme'],
    [`Basic ${token}`, 'unknown_scheme'],
    ['Digest username="a", realm="b"', 'unknown_scheme'],
    ['Not-Bearer x', 'unknown_scheme'],
    [`Bearer ${makeToken('staging').token}`, 'other_environment'],
    [`Bearer ${makeToken('staging').token}0`, 'malformed'],
    [`${token}0`, 'malformed'],
  ] as const) {
    const { subject, credential } = identified(authorization);
    t.same([subject, credential], [address, flaw]);
  }
  t.end();
});

t.test('a key of a foreign form is one where imports are accepted', (t) => {
  t.equal(identified('Bearer something-of-another-form', true).subject.kind, 'key');
  t.equal(identified('Bearer short', true).subject.kind, 'address');
  t.end();
});
