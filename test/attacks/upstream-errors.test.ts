import { brotliCompressSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { checkHonest, codeOf } from '../answers/honest.js';
import { scrape } from '../servers/exposition.js';
import { INTERNAL_TOKEN } from '../servers/gateway.js';
import { openLine } from '../servers/raw.js';
import { until } from '../servers/until.js';
import { request, startFront, type Front } from './front.js';
import { OK, startRawUpstream } from './raw-upstream.js';

const PAGE = '<html><h1>TypeError: x is undefined</h1><pre>at Db.query (/srv/pets/db.js:7:11)</pre></html>';
const FINE = (status: number): string =>
  JSON.stringify({ code: 'pet_not_found', message: 'There is no pet with id 7.', status });

const upstream = await startRawUpstream(t);
const front = await startFront(t, upstream.url, {
  pets: { connections: 1, breaker: { failures: 1, open: '1h', cap: '1h' } },
});
const REPLACED = 'the upstream sent an error that is not an Error of the contract: the gateway replaced it';

function answer(status: string, fields: readonly string[], body: string | Buffer): void {
  const bytes = Buffer.from(body);
  upstream.handle = (socket) => {
    socket.write(`HTTP/1.1 ${status} Odd\r\n${[...fields, `Content-Length: ${bytes.length}`].join('\r\n')}\r\n\r\n`);
    socket.write(bytes);
  };
}

const ask = (line = 'GET /v1/pets', ...fields: string[]): ReturnType<Front['send']> =>
  front.send(request(line, front.key, ...fields));

/** The attack: an error page of whatever stands behind, with its insides on it, or one that a client cannot read. */
t.test('an error that is no Error is replaced by one with the same status', async (t) => {
  const json = 'Content-Type: application/json';
  const bad: readonly (readonly [name: string, status: number, fields: readonly string[], body: string | Buffer])[] = [
    ['a page', 500, ['Content-Type: text/html'], PAGE],
    ['nothing', 503, [], ''],
    ['an empty object', 500, [json], '{}'],
    ['null', 400, [json], 'null'],
    ['a list', 400, [json], '[]'],
    ['broken JSON', 502, [json], '{"code":"x"'],
    ['another form', 404, [json], '{"error":"not found"}'],
    ['another status inside', 404, [json], FINE(500)],
    ['a status that is text', 404, [json], FINE(404).replace('404', '"404"')],
    ['an empty code', 404, [json], FINE(404).replace('pet_not_found', '')],
    ['an Error that says it is text', 404, ['Content-Type: text/plain'], FINE(404)],
    ['an Error that does not say what it is', 404, [], FINE(404)],
    [
      'a problem (RFC 9457)',
      422,
      ['Content-Type: application/problem+json'],
      '{"type":"about:blank","title":"Bad","status":422}',
    ],
    ['a page in gzip', 500, ['Content-Type: text/html', 'Content-Encoding: gzip'], gzipSync(PAGE)],
    ['gzip that is none', 500, [json, 'Content-Encoding: gzip'], FINE(500)],
    ['an unknown coding', 500, [json, 'Content-Encoding: rot13'], FINE(500)],
    [
      'a small bomb',
      500,
      [json, 'Content-Encoding: gzip'],
      gzipSync(`{"code":"x","message":"${' '.repeat(20_000_000)}","status":500}`),
    ],
    ['a page of 200 kB', 500, ['Content-Type: text/html'], 'x'.repeat(200_000)],
    ['an Error of 200 kB', 500, [json], FINE(500).replace('There', 'x'.repeat(200_000))],
  ];
  for (const [name, status, fields, body] of bad) {
    answer(String(status), [...fields, 'ETag: "1"', 'Content-Language: de', 'Set-Cookie: a=1', 'Allow: GET'], body);
    const got = await ask();
    checkHonest(t, got, name);
    t.same([got.status, codeOf(got)], [status, 'upstream_error'], name);
    t.same(
      ['content-type', 'content-encoding', 'content-language', 'etag', 'set-cookie', 'allow'].map(
        (field) => got.headers.get(field) ?? null,
      ),
      ['application/json', null, null, null, 'a=1', 'GET'],
      `${name}: what spoke of the page went with it, the rest did not`,
    );
    t.equal(got.headers.get('content-length'), String(Buffer.byteLength(got.body)), name);
    answer('200', [json], '[]');
    t.equal(await front.good(), 200, `after ${name} a good request is 200`);
  }
  await front.idle();
});

t.test('an Error comes through as it is, compressed or not', async (t) => {
  const good: Readonly<Record<string, readonly [readonly string[], Buffer | string]>> = {
    plain: [['Content-Type: application/json'], FINE(404)],
    'with a charset': [['Content-Type: Application/JSON; charset=utf-8'], ` ${FINE(404)}\n`],
    'with more than it needs': [['Content-Type: application/json'], FINE(404).replace('}', ',"petId":7}')],
    gzip: [['Content-Type: application/json', 'Content-Encoding: gzip'], gzipSync(FINE(404))],
    br: [['Content-Type: application/json', 'Content-Encoding: BR'], brotliCompressSync(FINE(404))],
  };
  for (const [name, [fields, body]] of Object.entries(good)) {
    answer('404', [...fields, 'ETag: "1"'], body);
    const got = await ask('GET /v1/pets', 'Accept-Encoding: gzip, br');
    t.equal(got.status, 404, name);
    t.equal(got.body, Buffer.from(body).toString('latin1'), name);
    t.same(
      [got.headers.get('content-length'), got.headers.get('etag')],
      [String(Buffer.byteLength(body)), '"1"'],
      name,
    );
  }
  upstream.handle = (socket) =>
    void socket.write(
      'HTTP/1.1 500 Odd\r\nContent-Type: application/json\r\nTransfer-Encoding: ' +
        `chunked\r\n\r\n${FINE(500).length.toString(16)}\r\n${FINE(500)}\r\n0\r\n\r\n`,
    );
  t.equal((await ask()).body, FINE(500), 'chunked');
});

/** No body to judge: what the answer says of it decides. */
t.test('of an answer to HEAD its fields are judged', async (t) => {
  const head = async (): Promise<string> => {
    const line = openLine(t, front.target, request('HEAD /v1/pets', front.key, 'Connection: close'));
    await until('it is closed', line.isClosed);
    return line.text();
  };
  upstream.handle = (socket) =>
    void socket.write('HTTP/1.1 500 Odd\r\nContent-Type: text/html\r\nContent-Length: 1234\r\n\r\n');
  const page = await head();
  t.match(page, /^HTTP\/1\.1 500 [^]*content-type: application\/json\r\n[^]*\r\n\r\n$/i);
  t.notMatch(page, '1234');
  upstream.handle = (socket) =>
    void socket.write('HTTP/1.1 404 Odd\r\nContent-Type: application/json\r\nContent-Length: 77\r\n\r\n');
  t.match(await head(), /^HTTP\/1\.1 404 [^]*content-length: 77\r\n[^]*\r\n\r\n$/i);
});

t.test('what was replaced stands in the log, cut and without secrets', async (t) => {
  const token = front.key.replace(/^.* /, '');
  const echo =
    `Error: no\u0007 pet\r\n at x.js:1\nGET /v1/pets\nAuthorization: Bearer ${INTERNAL_TOKEN}\nX-Was: ` +
    `${token}\nCookie: sid=Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6\n${'y '.repeat(5_000)}`;
  answer('500', ['Content-Type: text/plain; charset=utf-8', 'Content-Encoding: gzip'], gzipSync(echo));
  await ask('GET /v1/pets', 'X-Request-Id: mine');
  const found = () => front.gateway.program.lines().find(({ msg, request }) => msg === REPLACED && request === 'mine');
  await until('it is logged', () => found() !== undefined);
  const line = found()!;
  t.match(line, {
    level: 'warn',
    upstream: 'pets',
    request: 'mine',
    operation: 'listPets',
    status: 500,
    contentType: 'text/plain; charset=utf-8',
  });
  const { body } = line as { body: string };
  t.match(body, /^Error: no\? pet\?\? at x\.js:1/, 'what it said, in what can be printed');
  t.ok(body.length <= 260, `at most that: ${body.length}`);
  const all = JSON.stringify(line);
  for (const secret of [INTERNAL_TOKEN, token, 'Zm9vYmFy']) t.notMatch(all, secret);
});

t.test('errors say nothing bad of an address that answers, and are counted as refusals', async (t) => {
  const counted = async (): Promise<number> =>
    (await scrape(front.gateway.adminUrl)).value('petgate_refusals_total', { code: 'upstream_error' });
  const before = await counted();
  upstream.heads.length = 0;
  answer('500', ['Content-Type: text/html'], PAGE);
  for (let n = 0; n < 5; n += 1) t.equal((await ask()).status, 500);
  t.equal(upstream.heads.length, 5, 'sent once each, and the breaker stays closed');
  upstream.handle = (socket) => void socket.write(OK);
  t.equal(await front.good(), 200);
  t.equal((await counted()) - before, 5);
});
