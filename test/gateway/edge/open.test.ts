import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { loadSettings } from '../../../src/gateway/config/load.js';
import { createAddressReader } from '../../../src/gateway/edge/client-address.js';
import { headOf, open } from '../../../src/gateway/edge/open.js';
import type { Exchange } from '../../../src/gateway/exchange.js';
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
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  port = (server.address() as AddressInfo).port;
  t.teardown(() => server.close());
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
    { ...head, remote: '192.0.2.7', goesOn: false },
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
    ['headers_too_large', 'GET / HTTP/1.1', [HOST, ...Array<string>(limits.headerFields).fill('a:')]],
    ['uri_too_long', `GET /${'x'.repeat(limits.urlBytes)} HTTP/1.1`, [HOST]],
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
