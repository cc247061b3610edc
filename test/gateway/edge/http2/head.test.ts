import t from 'tap';
import { loadSettings } from '../../../../src/gateway/config/load.js';
import { createAddressReader } from '../../../../src/gateway/edge/client-address.js';
import { open } from '../../../../src/gateway/edge/open.js';
import { readStreamHead } from '../../../../src/gateway/edge/http2/head.js';
import type { Exchange } from '../../../../src/gateway/exchange.js';
import { makeExchange } from '../../exchange.js';

const { limits } = loadSettings({});
const GOOD = { ':method': 'POST', ':scheme': 'https', ':authority': 'pets.example', ':path': '/v1/./pets?a=b' };

/** What `open` makes of a head of HTTP/2. */
function opening(
  pseudo: Readonly<Record<string, string>>,
  fields: readonly (readonly [string, string])[] = [],
  endsLater = true,
): Exchange {
  const { head, fault } = readStreamHead(
    [...Object.entries(pseudo), ...fields].flat(),
    endsLater,
    '::ffff:192.0.2.7',
    limits,
  );
  return open(head, makeExchange().exchange.client, createAddressReader([]), limits, fault);
}

t.test('a head of HTTP/2 becomes the same plain data as one of HTTP/1.1', (t) => {
  const exchange = opening(GOOD, [
    ['authorization', 'Bearer x'],
    ['cookie', 'a=1'],
    ['accept', 'a/b'],
    ['cookie', 'b=2'],
    ['content-length', '7'],
  ]);
  t.match(exchange, {
    version: '2',
    method: 'POST',
    path: '/v1/pets',
    query: '?a=b',
    authorization: 'Bearer x',
    hasBody: true,
    contentLength: 7,
    address: '192.0.2.7',
    fault: null,
  });
  t.same(exchange.headers, [
    'authorization',
    'Bearer x',
    'accept',
    'a/b',
    'content-length',
    '7',
    'cookie',
    'a=1; b=2',
    'host',
    'pets.example',
  ]);
  t.match(
    opening(GOOD, [], false),
    { hasBody: false, contentLength: null, fault: null },
    'the stream ended with its head',
  );
  t.match(opening(GOOD, [], true), { hasBody: true, contentLength: null, fault: null }, 'it goes on');
  t.match(opening(GOOD, [['content-length', '0']], true), { hasBody: false, fault: null }, 'it goes on with nothing');
  t.equal(
    opening(GOOD, [
      ['authorization', 'a'],
      ['authorization', 'b'],
    ]).authorization,
    '',
    'two credentials are none',
  );
  t.end();
});

t.test('what has no good form is a fault, and which', (t) => {
  const faults: readonly (readonly [
    string,
    Readonly<Record<string, string>>,
    readonly (readonly [string, string])[],
  ])[] = [
    ['malformed_request', { ...GOOD, ':scheme': 'http' }, []],
    ['malformed_request', { ...GOOD, ':method': 'po st' }, []],
    ['malformed_request', { ...GOOD, ':method': 'X'.repeat(65) }, []],
    ['malformed_request', { ':method': 'CONNECT', ':authority': 'pets.example' }, []],
    ['malformed_request', { ...GOOD, ':authority': 'me@pets.example' }, []],
    ['malformed_request', { ...GOOD, ':authority': '' }, []],
    ['malformed_request', { ...GOOD, ':path': '*' }, []],
    ['malformed_request', GOOD, [['host', 'elsewhere']]],
    ['headers_too_large', GOOD, [['x', 'x'.repeat(limits.header_size)]]],
    ['headers_too_large', GOOD, Array.from({ length: limits.header_fields }, (_, n) => [`x-${n}`, ''])],
    ['uri_too_long', { ...GOOD, ':path': `/${'x'.repeat(limits.url_size)}` }, []],
    ['expectation_failed', GOOD, [['expect', 'tea']]],
  ];
  for (const [code, pseudo, fields] of faults)
    t.equal(opening(pseudo, fields).fault?.code, code, `${JSON.stringify(pseudo).slice(0, 90)} ${fields.length}`);
  t.equal(opening({ ...GOOD, ':method': 'FR"OB' }).method, '', 'what is no method stands in no log');
  t.match(opening({ ...GOOD, ':method': 'LIST' }), { method: 'LIST', fault: null }, 'any token is one');
  t.equal(opening(GOOD, [['host', 'PETS.example']]).fault, null, 'hosts agree whatever their case');
  for (const [authority, host] of [
    ['pets.example:443', 'pets.example'],
    ['pets.example', 'Pets.example:443'],
    ['pets.example:', 'pets.example:443'],
    ['[2001:db8::1]:443', '[2001:DB8::1]'],
  ] as const)
    t.equal(opening({ ...GOOD, ':authority': authority }, [['host', host]]).fault, null, `${authority} is ${host}`);
  for (const [authority, host] of [
    ['pets.example:8443', 'pets.example'],
    ['pets.example:4430', 'pets.example:443'],
    ['pets.example:80', 'pets.example'],
  ] as const)
    t.equal(
      opening({ ...GOOD, ':authority': authority }, [['host', host]]).fault?.code,
      'malformed_request',
      authority,
    );
  t.end();
});
