import t from 'tap';
import fc from 'fast-check';
import { createHash } from 'node:crypto';
import { customerOf, payerOf } from '../../../src/gateway/store/records/customer-id.js';
import {
  isCustomerId,
  isKeyId,
  makeToken,
  newCustomerId,
  newKeyId,
  parseToken,
} from '../../../src/gateway/accounts/token.js';

const BASE62 = /^[0-9A-Za-z]+$/;
const environments = fc.constantFrom('development', 'staging', 'production');

t.test('a token reads back as the key it was made for', (t) => {
  fc.assert(
    fc.property(environments, (environment) => {
      const made = makeToken(environment);
      t.match(made.token, new RegExp(`^ptg_${environment}_[0-9A-Za-z]{44}$`));
      t.ok(isKeyId(made.id));
      t.same(parseToken(made.token, environment, false), { id: made.id, secretHash: made.secretHash });
      t.equal(made.secretHash, createHash('sha256').update(made.token).digest('base64url'));
    }),
    { numRuns: 50 },
  );
  t.end();
});

t.test("the token of a customer's key names the customer, and no other does", (t) => {
  fc.assert(
    fc.property(environments, (environment) => {
      const customer = newCustomerId();
      t.ok(isCustomerId(customer) && !isKeyId(customer));
      const made = makeToken(environment, newKeyId(customer));
      t.match(made.token, new RegExp(`^ptg_${environment}_${customer}[0-9A-Za-z]{38}$`));
      t.ok(isKeyId(made.id) && !isCustomerId(made.id));
      t.same(parseToken(made.token, environment, false), { id: made.id, secretHash: made.secretHash });
      t.same([customerOf(made.id), payerOf(made.id)], [customer, customer]);
      const lone = makeToken(environment).id;
      t.same([customerOf(lone), payerOf(lone)], [null, lone]);
    }),
    { numRuns: 50 },
  );
  t.end();
});

t.test('any single changed, added or lost character is refused without a store', (t) => {
  const { token } = makeToken('production');
  fc.assert(
    fc.property(
      fc.nat(token.length - 1),
      fc.constantFrom('0', '9', 'A', 'Z', 'a', 'z', '_', 'é', '\u0000', ' ', '~'),
      (at, character) => {
        fc.pre(token[at] !== character);
        return (
          parseToken(token.slice(0, at) + character + token.slice(at + 1), 'production', false) === null &&
          parseToken(token.slice(0, at) + character + token.slice(at), 'production', false) === null &&
          parseToken(token.slice(0, at) + token.slice(at + 1), 'production', false) === null
        );
      },
    ),
    { numRuns: 500 },
  );
  t.end();
});

t.test('a token of another environment is refused, imported ones accepted or not', (t) => {
  for (const acceptImported of [false, true]) {
    t.equal(parseToken(makeToken('staging').token, 'production', acceptImported), null);
    t.equal(parseToken(makeToken('production').token, 'productionx', acceptImported), null);
    t.equal(parseToken('ptg_', 'production', acceptImported), null);
  }
  t.end();
});

t.test('no text makes the parser throw, and none of another form is a key', (t) => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 80 }),
      environments,
      (text, environment) => parseToken(text, environment, false) === null,
    ),
    { numRuns: 1000 },
  );
  t.end();
});

t.test('an imported token gets an id of the common form from its own hash, only where accepted', (t) => {
  const visible = fc.string({
    unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
    minLength: 16,
    maxLength: 512,
  });
  fc.assert(
    fc.property(visible, (token) => {
      fc.pre(!token.startsWith('ptg_'));
      const parts = parseToken(token, 'production', true);
      t.equal(parseToken(token, 'production', false), null);
      t.ok(parts !== null && isKeyId(parts.id) && parts.id.startsWith('i'));
      t.same(parseToken(token, 'staging', true), parts, 'the same everywhere');
      t.equal(parts?.secretHash, createHash('sha256').update(token).digest('base64url'));
    }),
    { numRuns: 100 },
  );
  for (const bad of [
    'x'.repeat(15),
    'x'.repeat(513),
    'sixteen chars and spaces',
    'é'.repeat(20),
    `${'x'.repeat(20)}\n`,
    '',
  ]) {
    t.equal(parseToken(bad, 'production', true), null);
  }
  t.end();
});

t.test('ids and secrets use every character about equally often', (t) => {
  const counts = new Map<string, number>();
  const runs = 3000;
  for (let run = 0; run < runs; run += 1) {
    const drawn = makeToken('staging').token.slice('ptg_staging_'.length, -6);
    t.match(drawn, BASE62);
    for (const character of drawn) counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  const expected = (runs * 38) / 62;
  const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  t.equal(counts.size, 62);
  // 61 degrees of freedom: above 120 comes once in 10^5 runs; modulo bias of 256 over 62 gives over 1000.
  t.ok(chiSquare < 120, `chi² ${chiSquare.toFixed(1)}`);
  t.end();
});
