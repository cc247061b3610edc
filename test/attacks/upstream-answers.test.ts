import { connect, type Socket } from 'node:net';
import t from 'tap';
import { checkHonest, codeOf } from '../answers/honest.js';
import { exchangeRaw } from '../servers/raw.js';
import { until } from '../servers/until.js';
import { request, startFront, type Front } from './front.js';
import { OK, startRawUpstream } from './raw-upstream.js';

const LARGE = 'x'.repeat(200_000);

/** Everything the gateway wrote until it closed the connection, and whether it was reset. */
function readAll(port: number, bytes: string): Promise<{ text: string; reset: boolean }> {
  return new Promise((resolve) => {
    const socket: Socket = connect(port, '127.0.0.1');
    let text = '';
    let reset = false;
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    socket.on('error', () => (reset = true)).on('close', () => resolve({ text, reset }));
    socket.write(bytes);
  });
}

const upstream = await startRawUpstream(t);
/** With one connection, and a breaker that the first fault of an upstream opens. */
const front = await startFront(t, upstream.url, {
  pets: { connections: 1, breaker: { failures: 1, open: '1h', cap: '1h' } },
});
/** With none, for answers that are the upstream's fault. */
const patient = await startFront(t, upstream.url, { pets: { connections: 2, deadline: '3s', breaker: 'off' } });

t.beforeEach(() => {
  upstream.heads.length = 0;
  upstream.handle = (socket) => void socket.write(OK);
});

const get = (front: Front): Promise<{ status: number; code: string }> =>
  front.send(request('GET /v1/pets', front.key)).then((answer) => {
    checkHonest(t, answer, `${answer.status}`);
    return { status: answer.status, code: answer.status >= 400 ? codeOf(answer) : '' };
  });

/** The attack: an upstream (or whoever took its place) answers what is no answer. */
t.test('an answer that is none becomes a 502, and the next request is served', async (t) => {
  const broken: Readonly<Record<string, string>> = {
    'a length that is too long': 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\nshort',
    'a chunk that breaks': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab',
    'chunked without an end': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n',
    'a chunk size that is none': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    'length and chunked': 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'two lengths': 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n[]x',
    'a negative length': 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n',
    'half a header': 'HTTP/1.1 200 OK\r\nContent-Le',
    'not HTTP': 'SSH-2.0-OpenSSH_9.2\r\n',
    'status 0': 'HTTP/1.1 000 Odd\r\nContent-Length: 0\r\n\r\n',
    'status 99': 'HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n',
    'status 600': 'HTTP/1.1 600 Odd\r\nContent-Length: 0\r\n\r\n',
    'status 999': 'HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n',
    'an upgrade nobody asked for':
      'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
    'a header of 40 kB': `HTTP/1.1 200 OK\r\nX-Large: ${'x'.repeat(40_000)}\r\n\r\n`,
    'nothing at all': '',
  };
  for (const [name, bytes] of Object.entries(broken)) {
    for (let n = 0; n <= 2; n += 1) {
      upstream.handle = (socket) => void socket.end(bytes, 'latin1');
      t.same(await get(patient), { status: 502, code: 'upstream_failed' }, name);
    }
    upstream.handle = (socket) => void socket.write(OK);
    t.equal(await patient.good(), 200, `after ${name} a good request is 200`);
  }
  await patient.idle();
});

/**
 * The attack: an answer that breaks after its head went out. Ended cleanly, the client takes half of it for the whole.
 */
t.test('an answer that breaks after it began is cut, never ended', async (t) => {
  const heads = { 'with a length': 'Content-Length: 400000\r\n', chunked: 'Transfer-Encoding: chunked\r\n' };
  for (const [name, field] of Object.entries(heads)) {
    const part = name === 'chunked' ? `${LARGE.length.toString(16)}\r\n${LARGE}\r\n` : LARGE;
    upstream.handle = (socket) =>
      void socket.write(
        `HTTP/1.1 200 OK\r\n${field}\r\n${part}`,
        () => void setTimeout(() => socket.resetAndDestroy(), 50),
      );
    /** The reset may overtake what came before it, on a busy machine: then nothing had begun. */
    const begun = async (asked: string): ReturnType<typeof readAll> => {
      let answer = await readAll(patient.port, asked);
      await until(`${name}: it had begun`, async () => {
        if (/^HTTP\/1\.1 200 /.test(answer.text)) return true;
        answer = await readAll(patient.port, asked);
        return false;
      });
      return answer;
    };
    const { text } = await begun(request('GET /v1/pets', patient.key));
    t.ok(text.length > 60_000, `${name}: a part came`);
    t.notMatch(text.slice(-5), '0\r\n\r\n', `${name}: no last chunk`);
    t.notMatch(text, 'upstream_failed', `${name}: no error inside of the answer`);
    const old = await begun(`GET /v1/pets HTTP/1.0\r\n${patient.key}\r\n\r\n`);
    t.ok(old.reset, `${name}: on HTTP/1.0, where the close is the end, a reset tells`);
  }
  await patient.idle();
});

/** The attack: interim answers, taken for the final one or passed on: in pieces, many at once, of odd kinds. */
t.test('an interim answer is passed over, however it comes, and says nothing against the upstream', async (t) => {
  const interim = 'HTTP/1.1 100 Continue\r\n\r\n';
  const pieces: Readonly<Record<string, readonly string[]>> = {
    'in one piece': [interim + OK],
    'before the answer': [interim, OK],
    'torn within its status line': ['HTTP/1.1 1', interim.slice(10) + OK],
    'torn within its end': [interim.slice(0, -1), `\n${OK}`],
    'byte by byte': [...Array.from({ length: interim.length }, (_, at) => interim.charAt(at)), OK],
    'several, of several kinds': [
      interim + interim,
      'HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n',
      interim + OK,
    ],
    'with fields': ['HTTP/1.1 100 Continue\r\nX-Early: 1\r\nContent-Length: 5\r\n\r\n' + OK],
    'of a number nobody knows': ['HTTP/1.1 142 Odd\r\n\r\n' + OK],
  };
  const fields = ['Content-Type: application/json', 'Content-Length: 2', 'Connection: close'];
  for (const [name, parts] of Object.entries(pieces)) {
    upstream.heads.length = 0;
    upstream.handle = (socket) => void writeOneByOne(socket, parts);
    const { text } = await readAll(front.port, `${request('POST /v1/pets', front.key, ...fields)}{}`);
    t.match(text, /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n\[\]$/, name);
    t.notMatch(text, /x-early/i, name);
    t.equal(upstream.heads.length, 1, `${name}: sent once`);
  }
  upstream.handle = (socket) =>
    void socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${interim.length}\r\n\r\n`, () =>
      setImmediate(() => socket.write(interim)),
    );
  t.equal(
    (await front.send(request('GET /v1/pets', front.key))).body,
    interim,
    'what a body says is no interim answer',
  );
  upstream.handle = (socket) => void socket.write(`HTTP/1.1 100 Continue\r\n${'X-Long: 1\r\n'.repeat(5_000)}`);
  const endless = await front.send(
    `${request('POST /v1/pets', front.key, 'Content-Type: application/json', 'Content-Length: 2')}{}`,
  );
  t.same([endless.status, codeOf(endless)], [502, 'upstream_failed'], 'one without an end is no answer');
});

async function writeOneByOne(socket: Socket, parts: readonly string[]): Promise<void> {
  socket.setNoDelay();
  for (const part of parts) {
    socket.write(part);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** The attack: none; RFC 9110 §8.6 lets a 304 tell the length that a 200 would have, and servers do. */
t.test('a 304 may tell a length', async (t) => {
  upstream.handle = (socket, head) =>
    void socket.write(
      /if-none-match/i.test(head) ? 'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\nContent-Length: 12345\r\n\r\n' : OK,
    );
  for (let n = 0; n < 3; n += 1) {
    const { text } = await readAll(
      front.port,
      request('GET /v1/pets', front.key, 'If-None-Match: "1"', 'Connection: close'),
    );
    t.match(text, /^HTTP\/1\.1 304 [^]*etag: "1"\r\n[^]*\r\n\r\n$/i);
    t.equal(await front.good(), 200);
  }
  t.equal(upstream.heads.length, 6, 'each was sent once');
  const evil = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil';
  upstream.handle = (socket, head) =>
    void socket.write(
      /if-none-match/i.test(head) ? `HTTP/1.1 304 Not Modified\r\nContent-Length: ${evil.length}\r\n\r\n${evil}` : OK,
    );
  t.match(
    (await readAll(front.port, request('GET /v1/pets', front.key, 'If-None-Match: "1"', 'Connection: close'))).text,
    /^HTTP\/1\.1 304 /,
  );
  t.equal((await front.send(request('GET /v1/pets', front.key))).body, '[]', "what follows it is nobody's answer");
  await front.idle();
});

t.test('a 204 and an answer to HEAD end with their header, however they are framed', async (t) => {
  for (const field of ['Content-Length: 0', 'Content-Length: 7', 'Transfer-Encoding: chunked', 'Connection: close']) {
    upstream.handle = (socket) => void socket.write(`HTTP/1.1 204 No Content\r\n${field}\r\n\r\n`);
    const { text } = await readAll(front.port, request('GET /v1/pets', front.key, 'Connection: close'));
    t.match(text, /^HTTP\/1\.1 204 [^]*\r\n\r\n$/, field);
    t.notMatch(text, /content-length|transfer-encoding/i, `${field}: a 204 has no length (RFC 9110 §8.6)`);
    upstream.handle = (socket) => void socket.write(`HTTP/1.1 200 OK\r\n${field}\r\n\r\n`);
    t.match(
      (await readAll(front.port, request('HEAD /v1/pets', front.key, 'Connection: close'))).text,
      /^HTTP\/1\.1 200 [^]*\r\n\r\n$/,
      `HEAD, ${field}`,
    );
    upstream.handle = (socket) => void socket.write(OK);
    t.equal(await front.good(), 200, `after ${field}`);
  }
  await front.idle();
});

/** The attack: header fields of an answer that speak for the gateway, to its clients or its connections. */
t.test('what an answer may say of the gateway, it may not', async (t) => {
  upstream.handle = (socket, head) =>
    void socket.write(
      [
        'HTTP/1.1 200 OK',
        'Content-Length: 2',
        'Connection: X-Secret, keep-alive',
        'Connection: X-Other',
        'X-Secret: 1',
        'X-Other: 1',
        'Keep-Alive: timeout=5',
        'Proxy-Authenticate: Basic',
        'WWW-Authenticate: Internal',
        'Server: pets/1',
        'X-Powered-By: x',
        'X-RateLimit-Limit: 7',
        'X-RateLimit-Remaining: 7',
        'RateLimit: "x";r=1;t=1',
        'RateLimit-Policy: "x";q=1;w=1',
        'Retry-After: 9',
        'X-Request-Id: theirs',
        'X-Petgate-Plan: free',
        'Alt-Svc: h3=":443"',
        'X-Latin: caf\u00e9',
        'Set-Cookie: a=1',
        'Set-Cookie: b=2',
        'ETag: "1"',
        '',
        head.startsWith('HEAD') ? '' : '[]',
      ].join('\r\n'),
      'latin1',
    );
  const clean = await front.send(request('GET /v1/pets', front.key, 'X-Request-Id: mine'));
  t.equal(clean.status, 200);
  checkHonest(t, clean, 'clean');
  for (const field of [
    'x-secret',
    'x-other',
    'proxy-authenticate',
    'www-authenticate',
    'server',
    'x-powered-by',
    'x-petgate-plan',
    'alt-svc',
  ]) {
    t.notOk(clean.headers.has(field), `${field} stays inside`);
  }
  t.equal(clean.headers.get('x-request-id'), 'mine');
  t.equal(clean.headers.get('x-latin'), 'caf\u00e9', 'Latin-1 comes through byte by byte');
  t.equal(clean.headers.get('set-cookie'), 'a=1, b=2', 'fields that came twice stay two');
  t.equal(clean.headers.get('etag'), '"1"');
});

/** The attack: a request that may change something is sent twice because its connection broke. */
t.test('a POST is never sent again, a GET once', async (t) => {
  upstream.handle = (socket) => socket.destroy();
  const post = `${request('POST /v1/pets', patient.key, 'Content-Type: application/json', 'Content-Length: 2')}{}`;
  t.equal((await patient.send(post)).status, 502);
  t.equal(upstream.heads.length, 1, 'a POST reached the service once');
  t.equal((await patient.send(request('GET /v1/pets', patient.key))).status, 502);
  t.equal(upstream.heads.length, 3, 'a GET twice, and no more');
  let asked = 0;
  upstream.handle = (socket) => (++asked === 1 ? void socket.destroy() : void socket.write(OK));
  t.equal(await patient.good(), 200, 'the second try of a GET is good');
  upstream.handle = (socket) =>
    void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx', () => socket.destroy());
  upstream.heads.length = 0;
  t.equal((await patient.send(request('GET /v1/pets', patient.key))).status, 502);
  t.equal(upstream.heads.length, 1, 'not once an answer began');
});

t.test('a 503 of the service keeps its Retry-After, in seconds, and has one in any case', async (t) => {
  const inAMinute = new Date(Date.now() + 60_000).toUTCString();
  for (const [said, expected] of [
    ['Retry-After: 7\r\n', /^7$/],
    [`Retry-After: ${inAMinute}\r\n`, /^(59|60)$/],
    ['Retry-After: soon\r\n', /^1$/],
    ['Retry-After: 0\r\n', /^1$/],
    ['', /^1$/],
  ] as const) {
    upstream.handle = (socket) => void socket.write(`HTTP/1.1 503 Busy\r\n${said}Content-Length: 0\r\n\r\n`);
    const [answer] = await exchangeRaw(front.port, request('GET /v1/pets', front.key), 1);
    t.match(answer?.headers.get('retry-after'), expected, said.trim());
    checkHonest(t, answer!, said.trim());
  }
});
