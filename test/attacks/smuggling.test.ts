import { connect } from 'node:net';
import t from 'tap';
import type { Test } from 'tap';
import { checkHonest } from '../answers/honest.js';
import { parseAnswers, type RawAnswer, statusesOf } from '../servers/raw.js';
import { startUpstream } from '../servers/upstream.js';
import { request, startFront } from './front.js';

const upstream = await startUpstream(t);
const front = await startFront(t, upstream.url, { config: { limits: { headers_time: '1s', request_time: '1s' } } });
const { key } = front;
/** The request nobody sent: it must never be seen behind, nor be answered. */
const hidden = request('POST /v1/pets?hidden', key, 'Content-Length: 2') + '{}';
const get = (target: string, ...fields: readonly string[]): string =>
  request(`GET ${target}`, ...fields, 'Connection: close');

/** All answers until the gateway closes, or half a second of silence after the first. */
function answersTo(bytes: string): Promise<readonly RawAnswer[]> {
  return new Promise((resolve) => {
    const socket = connect(front.port, '127.0.0.1');
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
      socket.setTimeout(500, () => socket.destroy());
    });
    socket.on('error', () => undefined).on('close', () => resolve(parseAnswers(text)));
    socket.write(Buffer.from(bytes, 'latin1'));
  });
}

/** Sends, and compares what was answered and what the upstream saw (`METHOD target body`). */
async function expectSeen(
  t: Test,
  name: string,
  bytes: string,
  statuses: readonly number[],
  seen: readonly string[],
): Promise<void> {
  upstream.seen.length = 0;
  const answers = await answersTo(bytes);
  t.same(statusesOf(answers), statuses, `${name}: answered ${statuses.join()}`);
  for (const answer of answers) checkHonest(t, answer, name);
  t.same(
    upstream.seen.map(({ method, url, body }) => `${method} ${url} ${body}`),
    seen,
    `${name}: behind, exactly ${seen.length} seen`,
  );
  t.equal(await front.good(), 200, `${name}: and all is well after`);
}

const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;

/**
 * The attack: two readers of one message that disagree where it ends. What the first takes for a body
 * the second takes for a request: one that passed no admission, or that steals the next client's answer.
 */
t.test('a framing that two readers could read in two ways is refused, and nothing behind it is read', async (t) => {
  const variants: Readonly<Record<string, readonly string[]>> = {
    'length and chunked': ['Content-Length: 5', 'Transfer-Encoding: chunked'],
    'chunked and length': ['Transfer-Encoding: chunked', 'Content-Length: 5'],
    'space before the colon': ['Transfer-Encoding : chunked'],
    'tab before the colon': ['Transfer-Encoding\t: chunked'],
    folded: ['Transfer-Encoding:', ' chunked'],
    'folded elsewhere': ['X-Odd: a', ' Transfer-Encoding: chunked', 'Content-Length: 5'],
    'chunked twice': ['Transfer-Encoding: chunked, chunked'],
    'chunked in two fields': ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'],
    'gzip, chunked': ['Transfer-Encoding: gzip, chunked'],
    'chunked, identity': ['Transfer-Encoding: chunked, identity'],
    identity: ['Transfer-Encoding: identity'],
    xchunked: ['Transfer-Encoding: xchunked'],
    chunkedx: ['Transfer-Encoding: chunkedx'],
    quoted: ['Transfer-Encoding: "chunked"'],
    'with a parameter': ['Transfer-Encoding: chunked;q=1'],
    'with a vertical tab': ['Transfer-Encoding: \u000bchunked'],
    'empty, beside a length': ['Transfer-Encoding:', 'Content-Length: 5'],
    empty: ['Transfer-Encoding:'],
    'a length with plus': ['Content-Length: +5'],
    'a length with minus': ['Content-Length: -5'],
    'a length in hex': ['Content-Length: 0x5'],
    'a length with a space inside': ['Content-Length: 5 0'],
    'a length with a comma': ['Content-Length: 5, 5'],
    'a length with a dot': ['Content-Length: 5.0'],
    'no length': ['Content-Length:'],
    'a length beyond all numbers': ['Content-Length: 99999999999999999999'],
    'two lengths': ['Content-Length: 5', 'Content-Length: 6'],
    'two equal lengths': ['Content-Length: 5', 'Content-Length: 5'],
  };
  for (const [name, fields] of Object.entries(variants)) {
    await expectSeen(t, name, request('POST /v1/pets', key, ...fields) + chunk('{}') + hidden, [400], []);
  }
});

t.test('a framing in another spelling of the same is read once', async (t) => {
  const chunked = request('POST /v1/pets', key, 'Transfer-Encoding: chunked');
  for (const [name, bytes] of Object.entries({
    'upper case': request('POST /v1/pets', key, 'TRANSFER-ENCODING: CHUNKED') + chunk('{}'),
    'spaces around': request('POST /v1/pets', key, 'Transfer-Encoding:   chunked  ') + chunk('{}'),
    'leading zeros': `${request('POST /v1/pets', key, 'Content-Length: 0002')}{}`,
    'a chunk extension': `${chunked}2;a=b\r\n{}\r\n0\r\n\r\n`,
    trailers: `${chunked}2\r\n{}\r\n0\r\nX-Petgate-Plan: business\r\n\r\n`,
  }))
    await expectSeen(t, name, bytes, [200], ['POST /v1/pets {}']);
  t.notOk(
    upstream.seen.some(({ rawHeaders }) => rawHeaders.includes('business')),
    'trailers stay here',
  );
});

/** The attack: chunks whose sizes and ends a lenient reader takes otherwise. */
t.test('a chunk that is not exactly one ends the connection', async (t) => {
  const head = request('POST /v1/pets', key, 'Transfer-Encoding: chunked');
  for (const [name, body] of Object.entries({
    'size 0x2': '0x2\r\n{}\r\n0\r\n\r\n',
    'size -2': '-2\r\n{}\r\n0\r\n\r\n',
    'size +2': '+2\r\n{}\r\n0\r\n\r\n',
    'size beyond 64 bits': '10000000000000002\r\n{}\r\n0\r\n\r\n',
    'no end of chunk': '2\r\n{}0\r\n\r\n',
    'a bare LF': '2\n{}\r\n0\r\n\r\n',
    'a LF in the extension': '2;a\n\r\n{}\r\n0\r\n\r\n',
    'a CR alone': '2\r\r\n{}\r\n0\r\n\r\n',
    'a space before the size': ' 2\r\n{}\r\n0\r\n\r\n',
  }))
    await expectSeen(t, name, head + body + hidden, [400], []);
});

/**
 * The attack: a body on a method that has none. Whoever passes the header and pipes the body sends it
 * unframed, and the upstream reads a second request in it.
 */
t.test('a second request in the body of a method without one is never one', async (t) => {
  for (const [method, status] of Object.entries({ GET: 400, HEAD: 400, DELETE: 405, OPTIONS: 204, TRACE: 405 })) {
    upstream.seen.length = 0;
    for (const bytes of [
      request(`${method} /v1/pets`, key, 'Transfer-Encoding: chunked') + chunk(hidden),
      request(`${method} /v1/pets`, key, `Content-Length: ${hidden.length}`) + hidden,
    ]) {
      const answers = await answersTo(bytes);
      if (method !== 'HEAD') t.same(statusesOf(answers), [status], `${method}: one answer`);
      t.equal(upstream.seen.length, 0, `${method}: nothing behind`);
    }
  }
  const post = request('POST /v1/pets', key, 'Transfer-Encoding: chunked') + chunk(hidden);
  await expectSeen(t, 'POST', post, [200], [`POST /v1/pets ${hidden}`]);
});

/** The attack: 1,000 fields and more push the framing out of what the reader shows, while it still frames by it. */
t.test('framing behind more fields than are looked at is refused with them', async (t) => {
  for (const framing of [`Content-Length: ${hidden.length}`, 'Transfer-Encoding: chunked']) {
    const fields = Array<string>(1500).fill('a:');
    await expectSeen(t, framing, request('GET /v1/pets', key, ...fields, framing) + hidden, [431], []);
    const second = request('GET /v1/pets', ...fields, key, framing) + hidden;
    await expectSeen(t, `${framing}, a second key behind`, second, [431], []);
  }
});

/** The attack: line ends, versions and targets that some read and others don't. */
t.test('a head that is not strictly HTTP/1.1 is refused', async (t) => {
  const line = `Host: x\r\n${key}\r\n\r\n`;
  const heads: Readonly<Record<string, readonly [string, readonly number[]]>> = {
    'LF only': [`GET /v1/pets HTTP/1.1\nHost: x\n${key}\n\n`, [400]],
    'CR only': [`GET /v1/pets HTTP/1.1\rHost: x\r${key}\r\r`, [400]],
    'no version': [`GET /v1/pets\r\n${line}`, [505]],
    'HTTP/0.9': [`GET /v1/pets HTTP/0.9\r\n${line}`, [505]],
    'HTTP/1.2': [`GET /v1/pets HTTP/1.2\r\n${line}`, [400]],
    'HTTP/2.0': [`GET /v1/pets HTTP/2.0\r\n${line}`, [505]],
    RTSP: [`DESCRIBE rtsp://x RTSP/1.0\r\n${line}`, [400]],
    'chunked on 1.0': [`POST /v1/pets HTTP/1.0\r\nTransfer-Encoding: chunked\r\n${line}${chunk('{}')}`, [400]],
    'a space in the target': [`GET /v1/pets x HTTP/1.1\r\n${line}`, [400]],
    'a tab': [`GET\t/v1/pets HTTP/1.1\r\n${line}`, [400]],
    'GET *': [`GET * HTTP/1.1\r\n${line}`, [400]],
    'authority form': [`GET x:80 HTTP/1.1\r\n${line}`, [400]],
    'absolute form with a user': [`GET http://user@pets/v1/pets HTTP/1.1\r\n${line}`, [400]],
    'absolute form without an authority': [`GET http:///v1/pets HTTP/1.1\r\n${line}`, [400]],
    'absolute form with a fragment': [`GET http://pets/v1/pets#a HTTP/1.1\r\n${line}`, [400]],
    'absolute form of another scheme': [`GET ftp://pets/v1/pets HTTP/1.1\r\n${line}`, [400]],
    'absolute form without Host': [`GET http://pets/v1/pets HTTP/1.1\r\n${key}\r\n\r\n`, [400]],
    'absolute form with a bad Host': [`GET http://pets/v1/pets HTTP/1.1\r\nHost: a b\r\n${key}\r\n\r\n`, [400]],
    'a backslash': [`GET /v1\\pets HTTP/1.1\r\n${line}`, [400]],
    'no Host': [`GET /v1/pets HTTP/1.1\r\n${key}\r\n\r\n`, [400]],
    'an empty Host': [`GET /v1/pets HTTP/1.1\r\nHost:\r\n${key}\r\n\r\n`, [400]],
    'two Hosts': [`GET /v1/pets HTTP/1.1\r\nHost: y\r\n${line}`, [400]],
    'a Host with a path': [`GET /v1/pets HTTP/1.1\r\nHost: x/y\r\n${key}\r\n\r\n`, [400]],
    'a Host with a user': [`GET /v1/pets HTTP/1.1\r\nHost: a@x\r\n${key}\r\n\r\n`, [400]],
    'a field without a name': [`GET /v1/pets HTTP/1.1\r\n: x\r\n${line}`, [400]],
    'a field without a colon': [`GET /v1/pets HTTP/1.1\r\nodd\r\n${line}`, [400]],
    'a first line of spaces': [` GET /v1/pets HTTP/1.1\r\n${line}`, [400]],
  };
  for (const [name, [bytes, statuses]] of Object.entries(heads))
    await expectSeen(t, name, bytes + hidden, statuses, []);
});

/** RFC 9112 §3.2.2: what proxies are sent, a server must accept too, and its Host is ignored. */
t.test('the absolute form is accepted, and neither its authority nor Host travels on as such', async (t) => {
  for (const [target, behind] of [
    ['http://pets.example/v1/pets?limit=1', '/v1/pets?limit=1'],
    ['https://other.example:8443/v1/x/../pets', '/v1/pets'],
    ['HTTP://[::1]/v1/pets', '/v1/pets'],
  ] as const) {
    await expectSeen(t, target, get(target, key), [200], [`GET ${behind} `]);
    await expectSeen(t, `${target} on 1.0`, `GET ${target} HTTP/1.0\r\n${key}\r\n\r\n`, [200], [`GET ${behind} `]);
  }
  // X-Forwarded-Host says what Host did.
  const sent = upstream.seen.map(({ headers }) => JSON.stringify({ ...headers, 'x-forwarded-host': undefined }));
  t.notMatch(sent.join(), 'example');
  const whole = request('OPTIONS http://pets.example', 'Connection: close');
  await expectSeen(t, 'OPTIONS of the server as a whole', whole, [204], []);
});

/** The attack: paths that name the same thing to the router and another to the upstream. */
t.test('what is routed is what is forwarded', async (t) => {
  for (const [target, behind] of [
    ['/v1/./pets', '/v1/pets'],
    ['/v1/x/../pets', '/v1/pets'],
    ['/v1/%70ets', '/v1/pets'],
    ['/v1/%2e/pets', '/v1/pets'],
    ['/v1/x/%2e%2e/pets', '/v1/pets'],
    ['/../../v1/pets', '/v1/pets'],
    ['/v1/pets?a=/../b%2f', '/v1/pets?a=/../b%2f'],
    ['/v1/pets/9223372036854775807', '/v1/pets/9223372036854775807'],
    ['/v1/pets/%31', '/v1/pets/1'],
    ['/v1/pets?status=%c3%a9', '/v1/pets?status=%c3%a9'],
  ] as const)
    await expectSeen(t, target, get(target, key), [200], [`GET ${behind} `]);
  for (const target of [
    '/V1/pets',
    '/v1//pets',
    '/v1/pets/',
    '/v1/pets;a=b',
    '/v1/%2570ets',
    '//v1/pets',
    '/v1/pets/..',
    '/v1%2fpets',
  ]) {
    await expectSeen(t, target, get(target, key), [404], []);
  }
});

/** The attack: a parameter that the upstream reads as more than a value. */
t.test('a path whose parameter is not what its schema allows reaches nothing behind', async (t) => {
  for (const id of ['abc', '1;x=y', '01', '9223372036854775808', '..%2f..%2fstore', '..%5cstore', '%ff', '1:2']) {
    await expectSeen(t, id, get(`/v1/pets/${id}`, key), [404], []);
    await expectSeen(t, `${id} without a key`, get(`/v1/pets/${id}`), [401], []);
  }
  await expectSeen(t, 'a file of the page, by another name', get('/docs/..%2fpackage.json'), [404], []);
});

/** The attack: a byte that ends a text for some (NUL), or a line (CR, LF), once somebody decodes it. */
t.test('an escaped control character is refused wherever it stands', async (t) => {
  for (const escape of ['%00', '%0a', '%0D', '%09', '%1f', '%1F', '%7f', '%7F']) {
    for (const target of [
      `/v1/pets/1${escape}.json`,
      `/v1/pets?status=sold${escape}`,
      `/v1/${escape}`,
      `/v1/pets/1/..${escape}`,
      `http://x/v1/pets?${escape}`,
      `/docs?${escape}`,
      `http://x${escape}/v1/pets`,
    ]) {
      await expectSeen(t, target, request(`GET ${target}`, key), [400], []);
    }
  }
  const percent = '/v1/pets?status=%2500';
  await expectSeen(t, '%2500 is a percent sign and two digits', get(percent, key), [200], [`GET ${percent} `]);
});
