import t from 'tap';
import { block, FLAG, frame, headers, openFrames, pseudo, TYPE, uint32, type Field } from '../servers/frames.js';
import { openHttp2 } from '../servers/http2.js';
import type { Upstream } from '../servers/upstream.js';
import { startHttp2Front, type Front } from './front.js';

let upstream: Upstream;
let front: Front;
let key: Field;

t.before(async () => {
  ({ upstream, front, key } = await startHttp2Front(t));
});

const [GOOD, BAD_REQUEST, RESET] = ['answer 88', 'answer 8c', 'reset 1'];
/** 405: in full, and from then on as an entry of the table. */
const NOT_ALLOWED = ['48', 'c4', 'c5', 'c6', 'c7'].map((byte) => `answer ${byte}`).join(' or ');
const without = (name: string): readonly Field[] => pseudo().filter(([found]) => found !== name);
const but = (name: string, value: string): readonly Field[] =>
  pseudo().map((field) => (field[0] === name ? [name, value] : field));

/**
 * The attack: a request that HTTP/2 frames well and HTTP/1.1 would frame otherwise, once a gateway writes it down
 * anew: a second request hidden in a field or a body (RFC 9113 §8.2, §8.3, §10.3).
 */
t.test('a malformed request is reset or answered 400, never forwarded, and harms no other stream', async (t) => {
  const client = await openFrames(t, front.target);
  const cases: readonly (readonly [name: string, fields: readonly Field[], end: string])[] = [
    ['connection', [...pseudo(), key, ['connection', 'x-a']], RESET],
    ['keep-alive', [...pseudo(), key, ['keep-alive', 'timeout=5']], RESET],
    ['proxy-connection', [...pseudo(), key, ['proxy-connection', 'close']], RESET],
    ['transfer-encoding', [...pseudo('POST'), key, ['transfer-encoding', 'chunked']], RESET],
    ['upgrade', [...pseudo(), key, ['upgrade', 'websocket']], RESET],
    ['te: gzip', [...pseudo(), key, ['te', 'gzip']], RESET],
    ['capitals', [...pseudo(), key, ['X-Odd', '1']], RESET],
    ['pseudo-field behind a field', [...without(':path'), key, [':path', '/v1/pets']], RESET],
    ['unknown pseudo-field', [...pseudo(), [':odd', '1'], key], RESET],
    ['pseudo-field of an answer', [...pseudo(), [':status', '200'], key], RESET],
    ['path twice', [...pseudo(), [':path', '/v1/pets'], key], RESET],
    ['no method', [...without(':method'), key], RESET],
    ['no scheme', [...without(':scheme'), key], RESET],
    ['no path', [...without(':path'), key], RESET],
    ['no authority', [...without(':authority'), key], RESET],
    ['empty path', [...but(':path', ''), key], RESET],
    ['path without slash', [...but(':path', 'v1/pets'), key], RESET],
    ['absolute path', [...but(':path', 'https://localhost/v1/pets'), key], RESET],
    ['GET *', [...but(':path', '*'), key], RESET],
    ['line in path', [...but(':path', '/v1/pets HTTP/1.1\r\nX: y'), key], RESET],
    ['line in method', [...but(':method', 'GET / HTTP/1.1\r\nX:'), key], RESET],
    ['line in authority', [...but(':authority', 'a\r\nX: y'), key], RESET],
    ['length without body', [...pseudo('POST'), key, ['content-length', '5']], RESET],
    ['two lengths', [...pseudo('POST'), key, ['content-length', '0'], ['content-length', '0']], RESET],
    ['length -1', [...pseudo('POST'), key, ['content-length', '-1']], RESET],
    [
      'extended CONNECT',
      [
        [':method', 'CONNECT'],
        [':protocol', 'websocket'],
        [':scheme', 'https'],
        [':authority', 'localhost'],
        [':path', '/v1/pets'],
        key,
      ],
      RESET,
    ],
    ['space in path', [...but(':path', '/v1/pets x'), key], RESET],
    ['two hosts', [...without(':authority'), key, ['host', 'a'], ['host', 'a']], RESET],
    ['CONNECT', [[':method', 'CONNECT'], [':authority', 'localhost:80'], key], BAD_REQUEST],
    ['unknown method', [...but(':method', 'FROB'), key], NOT_ALLOWED],
    ['method in small letters', [...but(':method', 'get'), key], NOT_ALLOWED],
    ['scheme http', [...but(':scheme', 'http'), key], BAD_REQUEST],
    ['scheme ftp', [...but(':scheme', 'ftp'), key], BAD_REQUEST],
    // Reset from nghttp2 1.69 on.
    ['userinfo', [...but(':authority', 'me@localhost'), key], `${BAD_REQUEST} or ${RESET}`],
    ['another host', [...pseudo(), key, ['host', 'elsewhere']], BAD_REQUEST],
    ['fragment', [...but(':path', '/v1/pets#a'), key], BAD_REQUEST],
    ['backslash', [...but(':path', '/v1\\pets'), key], BAD_REQUEST],
    ['broken escape', [...but(':path', '/v1/%zz'), key], BAD_REQUEST],
    ['te: trailers', [...pseudo(), key, ['te', 'trailers']], GOOD],
    ['the same host', [...pseudo(), key, ['host', 'LOCALHOST']], GOOD],
    ['host alone', [...without(':authority'), key, ['host', 'localhost']], GOOD],
  ];
  let stream = 1;
  for (const [name, fields, end] of cases) {
    upstream.seen.length = 0;
    client.write(headers(stream, fields));
    const found = await client.endOf(stream);
    t.ok(end.split(' or ').includes(found), `${name}: ${end}`, { found });
    client.write(headers(stream + 2, [...pseudo(), key]));
    t.equal(await client.endOf(stream + 2), GOOD, `${name}: the connection goes on`);
    t.equal(upstream.seen.length, end === GOOD ? 2 : 1, `${name}: behind, only what was good`);
    stream += 4;
  }
  t.notOk(client.closed());
  await front.idle();
});

t.test('a field whose value no HTTP may hold is gone before anybody reads it, and nothing of it travels', async (t) => {
  const client = await openFrames(t, front.target);
  upstream.seen.length = 0;
  for (const [index, value] of ['a\r\nx-hidden: 1', 'a\0b', 'a\nb', '\u007f'].entries()) {
    client.write(headers(2 * index + 1, [...pseudo(), key, ['x-odd', value], ['x odd', 'name'], ['x-even', 'kept']]));
    t.equal(await client.endOf(2 * index + 1), GOOD, JSON.stringify(value));
  }
  for (const { headers: seen } of upstream.seen)
    t.match(seen, { 'x-even': 'kept', 'x-odd': undefined, 'x odd': undefined, 'x-hidden': undefined });
  client.write(headers(101, [...pseudo(), ['authorization', `${key[1]}\0`]]));
  t.not(await client.endOf(101), GOOD, 'a credential like that is none');
});

t.test(
  'a body that is not as long as it says is reset, or ends the connection, before anything is forwarded',
  async (t) => {
    const post = (stream: number, length: string): Buffer =>
      headers(stream, [...pseudo('POST'), key, ['content-length', length]], false);
    upstream.seen.length = 0;
    for (const [name, body] of [
      ['shorter', frame(TYPE.data, FLAG.endStream, 1, 'four')],
      // Node 22 and later take this for an attack on the connection.
      ['longer', frame(TYPE.data, 0, 1, 'sixsix')],
      ['trailers in its place', headers(1, [['x-trailer', '1']])],
    ] as const) {
      const client = await openFrames(t, front.target);
      client.write(post(1, '5'), body);
      t.match(await client.endOf(1), /^(?:reset 1|goaway [12]|closed)$/, name);
      client.socket.destroy();
    }
    await front.idle();
    t.equal(upstream.seen.length, 0);
    const client = await openFrames(t, front.target);
    client.write(
      post(7, '4'),
      frame(TYPE.data, 0, 7, 'four'),
      headers(7, [
        ['x-trailer', '1'],
        ['authorization', 'other'],
      ]),
    );
    t.equal(await client.endOf(7), GOOD, 'as long as it says, with trailers');
    t.match(
      upstream.seen,
      [
        {
          method: 'POST',
          body: 'four',
          headers: { 'content-length': '4', 'x-trailer': undefined, 'transfer-encoding': undefined },
        },
      ],
      'which are dropped',
    );
    client.write(headers(9, [...pseudo('POST'), key], false), frame(TYPE.data, FLAG.endStream, 9, '{}'));
    t.equal(await client.endOf(9), GOOD, 'no length at all');
    t.match(
      upstream.seen[1],
      { body: '{}', headers: { 'content-length': '2', 'transfer-encoding': undefined } },
      'behind it has one, of our own',
    );
    client.write(
      headers(11, [...pseudo('POST'), key, ['content-length', '0']], false),
      frame(TYPE.data, FLAG.endStream, 11),
    );
    t.equal(await client.endOf(11), GOOD, 'an empty one is none');
  },
);

t.test('frames out of order end the connection, and the gateway is well', async (t) => {
  const good = headers(1, [...pseudo(), key]);
  const cases: Readonly<Record<string, readonly Buffer[]>> = {
    'HTTP/1.1 where frames belong': [Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')],
    'stream 0': [headers(0, pseudo())],
    'an even stream': [headers(2, pseudo())],
    'DATA on a stream nobody opened': [frame(TYPE.data, 0, 1, 'x')],
    'CONTINUATION without HEADERS': [frame(TYPE.continuation, FLAG.endHeaders, 1, block(pseudo()))],
    'another frame between HEADERS and CONTINUATION': [
      frame(TYPE.headers, FLAG.endStream, 1, block(pseudo())),
      frame(TYPE.ping, 0, 0, '12345678'),
    ],
    'a push from a client': [good, frame(TYPE.push, FLAG.endHeaders, 1, Buffer.concat([uint32(2), block(pseudo())]))],
    'a frame longer than allowed': [frame(TYPE.data, 0, 1, Buffer.alloc(16_385))],
    'a window beyond its bound': [frame(TYPE.window, 0, 0, uint32(0x7fffffff))],
    'a window grown by nothing': [frame(TYPE.window, 0, 0, uint32(0))],
    'broken compression': [
      frame(TYPE.headers, FLAG.endHeaders + FLAG.endStream, 1, Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff])),
    ],
    'settings of a wrong length': [frame(TYPE.settings, 0, 0, '12345')],
    'a reset of a stream nobody opened': [frame(TYPE.reset, 0, 1, uint32(8))],
  };
  for (const [name, frames] of Object.entries(cases)) {
    const client = await openFrames(t, front.target);
    client.write(...frames);
    t.match(await client.endOf(99), /^(?:goaway [1-9]\d*|closed)$/, name);
    client.socket.destroy();
  }
  t.equal((await openHttp2(t, front.target).send({ key: front.key })).status, 200);
  await front.idle();
});
