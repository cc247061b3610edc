import { createServer } from 'node:http';
import t from 'tap';
import { loadSettings } from '../../../src/gateway/config/load.js';
import { createAddressReader } from '../../../src/gateway/edge/client-address.js';
import { headOf, newLogEntry, open, type Head } from '../../../src/gateway/edge/open.js';
import type { Exchange } from '../../../src/gateway/exchange.js';
import { listen } from '../../servers/listen.js';
import { exchangeRaw } from '../../servers/raw.js';
import { makeExchange } from '../exchange.js';

const { limits } = loadSettings({});
const opened: Exchange[] = [];
let port = 0;

t.before(async () => {
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    opened.push(open(headOf(request), makeExchange().exchange.client, createAddressReader(['127.0.0.1']), limits));
    response.writeHead(204, { connection: 'close' }).end();
  });
  server.maxHeadersCount = 0;
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  ({ port } = await listen(t, server));
});

/** What `open` makes of a request that Node's parser lets through. */
async function opening(line: string, ...fields: readonly string[]): Promise<Exchange> {
  opened.length = 0;
  await exchangeRaw(port, [line, ...fields, '', ''].join('\r\n'));
  return opened[0]!;
}

t.test('scheme and host are those of the listener and of Host, unless a trusted proxy knows better', async (t) => {
  const GET = 'GET / HTTP/1.1';
  const [host, proto, forwardedHost] = [
    'Host: gw:8080',
    'X-Forwarded-Proto: HTTPS, http',
    'X-Forwarded-Host: api.example.com, gw',
  ];
  t.match(await opening(GET, host), { scheme: 'http', publicHost: 'gw:8080' });
  t.match(await opening(GET, host, proto, forwardedHost), { scheme: 'https', publicHost: 'api.example.com' });
  t.match(await opening(GET, host, 'X-Forwarded-Proto: gopher', 'X-Forwarded-Host: a b'), {
    scheme: 'http',
    publicHost: 'gw:8080',
  });
  const { exchange } = makeExchange();
  const head = {
    method: 'GET',
    target: '/',
    version: '1.1',
    fields: ['Host', 'gw', 'X-Forwarded-Proto', 'https', 'X-Forwarded-Host', 'evil'],
  };
  const untrusted = open(
    { ...head, remote: '192.0.2.7', endsLater: false },
    exchange.client,
    createAddressReader([]),
    limits,
  );
  t.match(untrusted, { scheme: 'http', publicHost: 'gw' }, 'anyone else is not believed');
  t.end();
});

t.test('a plain request becomes plain data', async (t) => {
  const exchange = await opening(
    'POST /v1/./pets?a=b HTTP/1.1',
    'Host: pets.example:443',
    'authorization: Bearer x',
    'Content-Length: 7',
    'X-Request-Id: r1',
    'X-Forwarded-For: 2001:db8::1',
    'Accept: a/b',
  );
  t.match(exchange, {
    method: 'POST',
    path: '/v1/pets',
    query: '?a=b',
    authorization: 'Bearer x',
    hasBody: true,
    contentLength: 7,
    id: 'r1',
    address: '2001:db8::1',
    addressBucket: '2001:db8:0:0',
    fault: null,
  });
  t.equal(exchange.headers.length, 12, 'six fields, as they came');
  const bare = await opening('GET / HTTP/1.0');
  t.match(
    bare,
    { authorization: null, hasBody: false, contentLength: null, fault: null, address: '127.0.0.1' },
    'HTTP/1.0 may leave out Host',
  );
  t.match(await opening('POST / HTTP/1.1', 'Host: x', 'Transfer-Encoding: chunked'), {
    hasBody: true,
    contentLength: null,
    fault: null,
  });
  for (const zero of ['0', '00', '000'])
    t.match(await opening('POST / HTTP/1.1', 'Host: x', `Content-Length: ${zero}`), { hasBody: false, fault: null });
  t.match(await opening('GET / HTTP/1.1', 'Host: [::1]:80', 'Expect: 100-Continue'), { fault: null });
  t.equal(
    (await opening('GET / HTTP/1.1', 'Host: x', 'Authorization: a', 'Authorization: a')).authorization,
    '',
    'two credentials are none',
  );
});

t.test('what two readers could read in two ways is a fault, and which', async (t) => {
  const HOST = 'Host: x';
  const faults: readonly (readonly [string, string, readonly string[]])[] = [
    ['http_version_not_supported', 'GET / HTTP/2.0', [HOST]],
    ['http_version_not_supported', 'GET / HTTP/0.9', [HOST]],
    ['headers_too_large', 'GET / HTTP/1.1', [HOST, ...Array<string>(limits.header_fields).fill('a:')]],
    ['uri_too_long', `GET /${'x'.repeat(limits.url_size)} HTTP/1.1`, [HOST]],
    ['malformed_request', 'GET * HTTP/1.1', [HOST]],
    ['malformed_request', 'GET http://u@x/ HTTP/1.1', [HOST]],
    ['malformed_request', 'GET http://x/ HTTP/1.1', []],
    ['malformed_request', 'GET http://x/ HTTP/1.1', ['Host: a b']],
    ['malformed_request', 'GET /a#b HTTP/1.1', [HOST]],
    ['malformed_request', 'GET / HTTP/1.1', []],
    ['malformed_request', 'GET / HTTP/1.1', ['Host:']],
    ['malformed_request', 'GET / HTTP/1.1', [HOST, HOST]],
    ['malformed_request', 'GET / HTTP/1.0', [HOST, HOST]],
    ['malformed_request', 'GET / HTTP/1.1', ['Host: a b']],
    ['malformed_request', 'GET / HTTP/1.1', ['Host: x@y']],
    ['malformed_request', 'GET / HTTP/1.1', ['Host: x:123456']],
    ['malformed_request', 'GET / HTTP/1.1', ['Host: [::1']],
    ['malformed_request', 'POST / HTTP/1.1', [HOST, 'Transfer-Encoding: gzip, chunked']],
    ['malformed_request', 'POST / HTTP/1.1', [HOST, 'Transfer-Encoding:']],
    ['malformed_request', 'POST / HTTP/1.0', [HOST, 'Transfer-Encoding: chunked']],
    ['malformed_request', 'POST / HTTP/1.1', [HOST, 'Content-Length: 1234567890123456']],
    ['expectation_failed', 'GET / HTTP/1.1', [HOST, 'Expect: tea']],
  ];
  for (const [code, line, fields] of faults) {
    const exchange = await opening(line, ...fields);
    t.equal(exchange.fault?.code, code, `${line.slice(0, 40)} ${fields.join(' ').slice(0, 40)}`);
  }
});

const PLAIN = { method: 'GET', target: '/', version: '1.1', remote: '192.0.2.7', endsLater: false } as const;

/** What `open` makes of these fields. */
function openedWith(fields: readonly string[], head: Partial<Head> = {}, isEncrypted = false): Exchange {
  const { client } = makeExchange().exchange;
  const trusted = createAddressReader(['192.0.2.7']);
  return open({ ...PLAIN, fields: ['Host', 'gw', ...fields], ...head }, { ...client, isEncrypted }, trusted, limits);
}

t.test('one forwarded field is enough, and says nothing of the other', (t) => {
  t.match(openedWith(['X-Forwarded-Proto', 'https']), { scheme: 'https', publicHost: 'gw' });
  t.match(openedWith(['X-Forwarded-Host', 'api.example']), { scheme: 'http', publicHost: 'api.example' });
  t.match(openedWith([], {}, true), { scheme: 'https', publicHost: 'gw' }, 'the connection is encrypted');
  t.match(openedWith(['X-Forwarded-Host', 'api.example'], {}, true), { scheme: 'https' });
  t.end();
});

t.test('a trace goes on, unless it was named twice', (t) => {
  const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  t.match(openedWith(['traceparent', trace]), { traceContinued: true });
  t.match(openedWith(['traceparent', trace, 'traceparent', trace]), { traceContinued: false });
  t.end();
});

t.test('addresses in several X-Forwarded-For are one list, of which the last untrusted is the client', (t) => {
  const fields = ['X-Forwarded-For', '198.51.100.1', 'X-Forwarded-For', '203.0.113.9, 192.0.2.7'];
  t.equal(openedWith(fields).address, '203.0.113.9');
  t.equal(openedWith(['X-Forwarded-For', '198.51.100.1', 'X-Forwarded-For', '192.0.2.7']).address, '198.51.100.1');
  t.equal(openedWith(['X-Request-Id', 'a', 'X-Request-Id', 'b']).id, 'b', 'of others the last');
  t.end();
});

t.test('as many fields and as long a target as are allowed pass, and one more does not', (t) => {
  const fields = (count: number) => Array.from({ length: 2 * count }, () => 'a');
  t.equal(openedWith(fields(limits.header_fields - 1)).fault, null);
  t.equal(openedWith(fields(limits.header_fields)).fault?.code, 'headers_too_large');
  const target = (length: number): Partial<Head> => ({ target: `/${'x'.repeat(length - 1)}` });
  t.equal(openedWith([], target(limits.url_size)).fault, null);
  t.equal(openedWith([], target(limits.url_size + 1)).fault?.code, 'uri_too_long');
  t.end();
});

t.test('a framing that is said twice is a fault, even where both say the same', (t) => {
  for (const fields of [
    ['Content-Length', '3', 'Content-Length', '3'],
    ['Transfer-Encoding', 'chunked', 'Transfer-Encoding', 'chunked'],
    ['Content-Length', '3', 'Transfer-Encoding', 'chunked'],
  ])
    t.equal(openedWith(fields).fault?.code, 'malformed_request', fields.join());
  t.end();
});

t.test('a character that no target has is named, and another fault is not', (t) => {
  const messageOf = (target: string): string =>
    (JSON.parse(openedWith([], { target }).fault!.body) as { message: string }).message;
  t.match(messageOf('/a#b'), '#');
  t.not(messageOf('*'), messageOf('/a#b'));
  t.end();
});

t.test('nothing is known of an exchange at first', (t) => {
  const { operation, contractCost, headers, counted, ...others } = newLogEntry();
  t.strictSame([operation, contractCost, headers, counted], ['malformed', 0, [], false]);
  const { decidedMs, admissionMs, upstreamMs, ...none } = others;
  t.strictSame([decidedMs, admissionMs, upstreamMs], [0, 0, 0]);
  for (const [name, value] of Object.entries(none)) t.equal(value, null, name);
  t.end();
});
