import t from 'tap';
import {
  toAdmitted,
  toIdentified,
  toRouted,
  toStripped,
  type Admitted,
  type Exchange,
} from '../../../src/gateway/exchange.js';
import { withoutBodyFields } from '../../../src/gateway/upstream/error-body.js';
import { credentialsOf } from '../../../src/gateway/upstream/credentials.js';
import { appendResponseHeaders, requestHeaders, type FieldRules } from '../../../src/gateway/upstream/headers.js';
import { ownAddressesOf } from '../../../src/gateway/upstream/own-addresses.js';
import { ADMITTED } from '../admission/verdict.js';
import { makeExchange } from '../exchange.js';
import { makeOperation } from '../operation.js';
import { upstreamSettings } from './settings.js';

const INTERNAL = credentialsOf(upstreamSettings({ authorization: 'internal' }), 'internal');

const OPERATION = makeOperation();

function admitted(
  keyId: string | null,
  clientAuthorization: string | null = null,
  fields: Partial<Exchange> = {},
): Admitted {
  const { exchange } = makeExchange({ id: 'request-1', clientAuthorization, ...fields });
  const routed = toRouted(toStripped(exchange, ['Accept', 'a/b']), {
    operation: 'listPets',
    reportsAs: 'listPets',
    scope: null,
    cost: 1,
    metered: null,
    secured: true,
    match: null,
    refusal: null,
  });
  const identified = toIdentified(routed, { kind: 'address', address: '192.0.2.1' }, 'missing');
  return toAdmitted(identified, OPERATION, { ...ADMITTED, keyId }, null);
}

const RULES: FieldRules = { errors: 'replace', own: ownAddressesOf(upstreamSettings()) };
const PASSING: FieldRules = { ...RULES, errors: 'pass' };

const answered = (ownCors = false): Admitted => {
  const exchange = admitted(null);
  exchange.logEntry.cors = ownCors ? [] : null;
  return exchange;
};

const told = (
  status: number,
  received: Readonly<Record<string, string | string[]>>,
  ownCors = false,
  rules = RULES,
): readonly string[] => {
  const target: string[] = [];
  const flat = Object.entries(received).flatMap(([name, values]) => [values].flat().flatMap((value) => [name, value]));
  appendResponseHeaders(target, status, flat, answered(ownCors), rules);
  return target;
};

t.test('the upstream is told who asks, once, by us', (t) => {
  const fields = requestHeaders(admitted('k1'), INTERNAL, false);
  t.same(fields, [
    'Accept',
    'a/b',
    'Authorization',
    'Bearer internal',
    'X-Request-Id',
    'request-1',
    'traceparent',
    '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00',
    'Via',
    '1.1 petgate',
    'X-Forwarded-For',
    '192.0.2.1',
    'X-Forwarded-Proto',
    'http',
    'X-Petgate-Plan',
    'free',
    'X-Forwarded-Host',
    'pets.example',
    'X-Petgate-Key-Id',
    'k1',
  ]);
  t.notOk(requestHeaders(admitted(null), INTERNAL, false).includes('X-Petgate-Key-Id'), 'who has no key has no id');
  t.end();
});

t.test("the client's own credential goes to an upstream that is to have it, and to no other", (t) => {
  const sent = (authorization: 'none' | 'client', own: string | null): string | undefined => {
    const credentials = credentialsOf(upstreamSettings({ authorization }), 'internal');
    const fields = requestHeaders(admitted('k1', own), credentials, false);
    return fields.find((_field, index) => fields[index - 1] === 'Authorization');
  };
  t.equal(sent('client', 'Basic abc'), 'Basic abc');
  t.equal(sent('client', null), undefined);
  t.equal(sent('client', ''), undefined, 'two of them are none');
  t.equal(sent('none', 'Basic abc'), undefined);
  t.end();
});

t.test("of an answer's fields the client gets what is not ours, not internal and not of one connection", (t) => {
  for (const name of [
    'connection',
    'keep-alive',
    'transfer-encoding',
    'upgrade',
    'server',
    'x-powered-by',
    'www-authenticate',
    'x-ratelimit-limit',
    'ratelimit',
    'ratelimit-policy',
    'x-petgate-plan',
    'x-request-id',
    'traceparent',
    'alt-svc',
  ]) {
    t.same(told(200, { [name]: 'x' }), [], name);
  }
  t.same(told(200, { 'content-type': 'a/b', 'set-cookie': ['a', 'b'], etag: '"1"' }), [
    'content-type',
    'a/b',
    'set-cookie',
    'a',
    'set-cookie',
    'b',
    'etag',
    '"1"',
  ]);
  const own = ['petgate-console=x', '__Secure-petgate-account=; Max-Age=0', ' petgate-x=1', '=petgate-console=x'];
  for (const cookie of [...own, 'PETGATE-console=x', '__secure-petgate-console=x', '==petgate-console=x'])
    t.same(told(200, { 'set-cookie': [cookie, 'theirs=1'] }), ['set-cookie', 'theirs=1'], cookie);
  t.same(told(200, { 'set-cookie': 'my-petgate-x=1' }), ['set-cookie', 'my-petgate-x=1']);
  t.same(told(200, { connection: 'X-Hop, keep-alive', 'x-hop': '1', 'x-stays': '2' }), ['x-stays', '2']);
  t.same(told(200, { connection: ['keep-alive', 'X-Hop'], 'x-hop': '1' }), [], 'also where Connection came twice');
  t.same(
    told(200, { 'x-odd': 'a\u0001', 'x-snow': '\u2603', 'x-latin': 'caf\u00e9' }),
    ['x-latin', 'caf\u00e9'],
    'what cannot be written is left out',
  );
  for (let n = 0; n < 1200; n += 1) told(200, { [`x-fill-${n}`]: '' });
  t.same(
    told(200, { 'x-ratelimit-late': '1', 'x-late': '2' }),
    ['x-late', '2'],
    'also beyond the names that are remembered',
  );
  t.end();
});

t.test('Forwarded (RFC 7239) says the same where the settings ask for it', (t) => {
  const forwarded = (fields: Partial<Exchange>): string | undefined => {
    const sent = requestHeaders(admitted(null, null, fields), INTERNAL, true);
    return sent.find((_field, index) => sent[index - 1] === 'Forwarded');
  };
  t.equal(forwarded({}), 'for=192.0.2.1;host="pets.example";proto=http');
  t.equal(forwarded({ address: '2001:db8::1', scheme: 'https', publicHost: null }), 'for="[2001:db8::1]";proto=https');
  t.end();
});

t.test('Via grows by the gateway behind those before it (RFC 9110 §7.6.3)', (t) => {
  const sent = requestHeaders(admitted(null, null, { version: '2' }), INTERNAL, false);
  t.equal(sent[sent.indexOf('Via') + 1], '2 petgate');
  t.end();
});

t.test("an upstream's Retry-After passes as it wrote it, whatever the status", (t) => {
  const date = new Date(Date.now() + 10_000).toUTCString();
  for (const status of [200, 202, 301, 303, 404, 409, 413, 425, 429, 503])
    for (const wait of ['120', date])
      t.same(told(status, { 'retry-after': wait }, false, PASSING), ['retry-after', wait], `${status} ${wait}`);
  t.same(told(503, {}, false, PASSING), [], 'and none is made up');
  t.same(told(202, { 'retry-after': '5' }), ['retry-after', '5'], 'also with errors: replace');
  t.end();
});

t.test('a 503 says in seconds how long to wait, as the service said or 1', (t) => {
  const wait = (said?: string | string[]): string | undefined =>
    told(503, said === undefined ? {} : { 'retry-after': said })[1];
  t.equal(wait('120'), '120');
  t.match(wait(new Date(Date.now() + 10_000).toUTCString()), /^(9|10)$/);
  for (const none of [undefined, '0', '-5', 'soon', '', '1.5', '99999999999', new Date(0).toUTCString(), ['1', '2']])
    t.equal(wait(none), '1', String(none));
  t.end();
});

t.test('of an error that is replaced, what describes its body goes, but for what its status speaks of', (t) => {
  const received = ['content-range', 'bytes */100', 'etag', '"1"', 'content-type', 'text/html', 'set-cookie', 'a=1'];
  t.same(withoutBodyFields(416, received), ['content-range', 'bytes */100', 'set-cookie', 'a=1']);
  t.same(withoutBodyFields(412, received), ['etag', '"1"', 'set-cookie', 'a=1']);
  t.same(withoutBodyFields(404, received), ['set-cookie', 'a=1']);
  t.end();
});

t.test('what browsers are told is one voice: of the upstream only where the gateway says nothing of CORS', (t) => {
  const received = {
    'access-control-allow-origin': '*',
    'access-control-expose-headers': 'x',
    vary: ['accept', 'accept-language'],
    'content-type': 'a/b',
  };
  t.same(told(200, received, true), ['Vary', 'accept, accept-language', 'content-type', 'a/b']);
  t.same(told(200, received, false), [
    'access-control-allow-origin',
    '*',
    'access-control-expose-headers',
    'x',
    'Vary',
    'accept, accept-language',
    'content-type',
    'a/b',
  ]);
  const target = ['X-Request-Id', 'Vary', 'Vary', 'Origin'];
  appendResponseHeaders(target, 200, ['vary', 'Accept, origin'], answered(true), RULES);
  t.same(
    target,
    ['X-Request-Id', 'Vary', 'Vary', 'Origin, Accept'],
    'what it varies by joins what the gateway varies by, in one field, and once',
  );
  t.end();
});
