import { constants } from 'node:http2';
import t from 'tap';
import type { Test } from 'tap';
import { checkHonest, codeOf } from '../answers/honest.js';
import { ledgerOf } from '../e2e/ledger.js';
import { ownCertificate } from '../servers/certificate.js';
import { FLAG, frame, headers, openFrames, pseudo, TYPE, uint32 } from '../servers/frames.js';
import { answerOf, openHttp2 } from '../servers/http2.js';
import { exchangeRaw, openLine, statusesOf, type Line } from '../servers/raw.js';
import { readAll, startTaker, type Taken, type Taker } from '../servers/taker.js';
import { until } from '../servers/until.js';
import { metricOf, request, startFront, type Front } from './front.js';

/** Long enough to be sent on as it comes. */
const LONG = 100_000;
const MIB = 2 ** 20;
const CONNECTIONS = 2;
const BODY = 'x'.repeat(LONG);
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

interface Stage {
  readonly front: Front;
  readonly taker: Taker;
  readonly begin: (bytes: string) => Line;
  /** All connections to the upstream are well: none is lost, or says what was not asked for. */
  readonly isWell: () => Promise<void>;
}

async function stage(
  t: Test,
  limits: Readonly<Record<string, unknown>> = {},
  pets: Readonly<Record<string, unknown>> = {},
): Promise<Stage> {
  const taker = await startTaker(t);
  const front = await startFront(t, taker.url, {
    config: { limits: { body_size: '16MiB', ...limits } },
    pets: { connections: CONNECTIONS, ...pets },
  });
  const begin = (bytes: string): Line => openLine(t, front.target, bytes);
  const isWell = async (): Promise<void> => {
    await front.idle();
    for (let n = 0; n <= CONNECTIONS; n += 1) t.equal(await front.good(), 200, 'a good request is served');
    t.equal(await metricOf(front.gateway, 'petgate_upstream_open_ratio'), 0, 'nobody blames the upstream');
  };
  return { front, taker, begin, isWell };
}

const post = ({ key }: Front, ...fields: readonly string[]): string =>
  request('POST /v1/pets', key, 'Content-Type: application/json', ...fields);
const declared = (front: Front, bytes: number): string => post(front, `Content-Length: ${bytes}`);
const chunked = (front: Front): string => post(front, 'Transfer-Encoding: chunked');
const times = (make: () => Line): readonly Line[] => Array.from({ length: CONNECTIONS + 1 }, make);
const allBroke = (taken: readonly Taken[]): boolean => taken.every(({ broken, ended }) => broken && !ended);

/** The attack: what follows a body, or stands where its frame should, becomes a request of its own at the upstream. */
t.test('nothing hides in or behind a body that streams', async (t) => {
  const { front, taker, begin, isWell } = await stage(t);
  const hidden = 'GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n';
  for (const [name, bytes, statuses] of [
    ['both framings', `${post(front, `Content-Length: ${LONG}`, 'Transfer-Encoding: chunked')}${BODY}${hidden}`, [400]],
    ['behind a length', `${declared(front, LONG)}${BODY}${hidden}`, [200, 401]],
    ['behind the last chunk', `${chunked(front)}${chunk(BODY)}0\r\n\r\n${hidden}`, [200, 401]],
    ['a chunk that is longer than it says', `${chunked(front)}${chunk(BODY)}5\r\n${hidden}0\r\n\r\n`, [400]],
    ['in a trailer', `${chunked(front)}${chunk(BODY)}0\r\nX-Key: a\r\n\r\n${hidden}`, [200, 401]],
    ['a length in a trailer', `${chunked(front)}${chunk(BODY)}0\r\nContent-Length: 5\r\n\r\n${hidden}`, [400]],
    ['a body that says it all', `${chunked(front)}${chunk(`0\r\n\r\n${hidden}${BODY}`)}0\r\n\r\n`, [200]],
  ] as const) {
    const lines = times(() => begin(bytes));
    await until(`${name}: answered`, () => lines.every(({ answers }) => answers().length >= statuses.length));
    for (const { answers } of lines) {
      t.same(statusesOf(answers()), statuses, name);
      for (const answer of answers()) checkHonest(t, answer, name);
    }
    await isWell();
  }
  t.ok(taker.taken.every(({ request: { url } }) => url === '/v1/pets'));
  t.ok(
    taker.taken.filter(({ ended }) => ended).every(({ request: { trailers } }) => Object.keys(trailers).length === 0),
  );
});

/** The attack: clients that leave, at each stage, until the upstream or its connections are used up. */
t.test('a client that leaves takes its upload along, wherever it was', async (t) => {
  const { front, taker, begin, isWell } = await stage(t);
  for (const bytes of [
    declared(front, LONG),
    `${declared(front, LONG)}x`,
    `${declared(front, LONG)}${'x'.repeat(LONG - 1)}`,
    `${chunked(front)}${chunk('x')}`,
    `${chunked(front)}${chunk(BODY)}`,
    `${chunked(front)}${chunk(BODY)}0\r\n`,
  ])
    for (const leave of [(line: Line) => line.socket.resetAndDestroy(), (line: Line) => line.socket.end()]) {
      const before = taker.taken.length;
      const lines = times(() => begin(bytes));
      const isLong = bytes.length > 70_000;
      await until('it is under way', async () =>
        isLong ? taker.taken.length > before : (await front.inFlight()) === lines.length,
      );
      lines.forEach(leave);
      await front.idle();
      await until('its upstream saw it break', () => allBroke(taker.taken.slice(before)));
      taker.taken.length = 0;
      await isWell();
      taker.taken.length = 0;
    }
});

/** The attack: a body in the smallest of pieces, each of which costs many times its length. */
t.test('pieces of one byte are joined, and a client that drips is sent away', async (t) => {
  const { front, taker, begin, isWell } = await stage(t, { headers_time: '1s', request_time: '2s' });
  const tiny = begin(`${chunked(front)}${'1\r\nx\r\n'.repeat(LONG)}0\r\n\r\n`);
  await until('it is served', () => tiny.answers().length === 1);
  t.equal(tiny.answers()[0]?.status, 200);
  t.equal(taker.taken[0]!.bytes, LONG);
  const lines = [declared(front, LONG), `${chunked(front)}${chunk('x'.repeat(70_000))}`].map(begin);
  const drip = setInterval(() => lines.forEach(({ socket }) => socket.write('1\r\nx\r\n')), 50);
  t.teardown(() => clearInterval(drip));
  await until('each is answered', () => lines.every(({ answers }) => answers().length === 1));
  clearInterval(drip);
  for (const line of lines) {
    t.equal(codeOf(line.answers()[0]!), 'request_timeout');
    checkHonest(t, line.answers()[0]!, 'late');
  }
  await until('its upstream saw it break', () => allBroke(taker.taken.slice(1)));
  await isWell();
});

t.test('a client that keeps on sending has all the time it needs', async (t) => {
  const { front, taker, begin } = await stage(t, { headers_time: '500ms', request_time: '1s' });
  const line = begin(chunked(front) + chunk('x'.repeat(70_000)));
  const startedMs = performance.now();
  const steps = setInterval(() => line.socket.write(chunk('x'.repeat(2048))), 50);
  t.teardown(() => clearInterval(steps));
  await until('it took longer than a short body may', () => performance.now() - startedMs > 3500);
  clearInterval(steps);
  line.socket.write('0\r\n\r\n');
  await until('it is served', () => line.answers()[0]?.status === 200);
  t.equal(taker.taken[0]!.ended, true);
});

t.test('a body that grows too large on its way: 413, and its upstream never sees it whole', async (t) => {
  const { front, taker, begin, isWell } = await stage(t, { body_size: '1MiB' });
  const lines = times(() => begin(`${chunked(front)}${chunk(BODY).repeat(9)}`));
  await until('it is at its upstream', () => taker.taken.length > 0);
  for (const { socket } of lines) socket.write(`${chunk(BODY).repeat(9)}0\r\n\r\n`);
  await until('each is refused', () => lines.every(({ answers }) => answers().length === 1));
  for (const { answers } of lines) {
    t.equal(codeOf(answers()[0]!), 'body_too_large');
    checkHonest(t, answers()[0]!, 'too large');
  }
  await until('its upstream saw it break', () => allBroke(taker.taken));
  t.match(await ledgerOf(front.gateway, front.keyId), { requests: lines.length, failed: 0 });
  await isWell();
});

/** The accident: an upstream that knows from the head that it wants no such body. */
t.test('an answer before the end of a body passes, and what follows is not read without end', async (t) => {
  const { front, taker, begin, isWell } = await stage(t, {}, { errors: 'pass' });
  taker.begin = ({ request: { method }, response }) => {
    if (method === 'GET') response.end('[]');
    else response.writeHead(413, { 'content-type': 'text/plain' }).end('too much');
  };
  for (const bytes of [`${declared(front, 8 * MIB)}${BODY}`, `${chunked(front)}${chunk(BODY)}`]) {
    const lines = times(() => begin(bytes));
    await until('each is answered', () => lines.every(({ answers }) => answers().length === 1));
    for (const { answers } of lines) {
      t.match(answers()[0], { status: 413, body: 'too much' });
      t.equal(answers()[0]!.headers.get('connection'), 'close');
    }
    for (const { socket } of lines) socket.write(BODY);
    await until('each is closed', () => lines.every(({ isClosed }) => isClosed()));
    await isWell();
  }
});

t.test('an upstream that takes no more is a 504, one that leaves a 502', async (t) => {
  const { front, taker, begin } = await stage(t, {}, { deadline: '500ms', breaker: 'off' });
  taker.begin = ({ request: { method }, response }) => {
    if (method === 'GET') response.end('[]');
  };
  const stalled = begin(`${declared(front, 16 * MIB)}${'x'.repeat(16 * MIB)}`);
  await until('it is answered', () => stalled.answers().length === 1);
  t.equal(codeOf(stalled.answers()[0]!), 'upstream_timeout');
  taker.begin = ({ request: { method }, response }) => {
    if (method === 'GET') response.end('[]');
    else response.destroy();
  };
  const left = begin(`${declared(front, 16 * MIB)}${BODY}`);
  await until('it is answered', () => left.answers().length === 1);
  t.equal(codeOf(left.answers()[0]!), 'upstream_failed');
  t.equal(taker.taken.length, 2, 'it was not sent again');
  for (const { answers } of [stalled, left]) checkHonest(t, answers()[0]!, 'failed');
  await front.idle();
  t.equal(await front.good(), 200);
  t.match(await ledgerOf(front.gateway, front.keyId), { requests: 3, failed: 2 });
});

/** The attack: servers close when a body comes too slowly, and the gateway passes them over for all others. */
t.test('clients that send slowly, leave or send too much open no breaker', async (t) => {
  const { front, taker, begin, isWell } = await stage(t, {}, { breaker: { failures: 1, open: '1h', cap: '1h' } });
  for (let n = 0; n < 3; n += 1) {
    const slow = begin(`${declared(front, LONG)}x`);
    await until('it is at its upstream', () => taker.taken.length > 0);
    taker.taken.splice(0).forEach(({ request: { socket } }) => socket.destroy());
    await until('it is answered', () => slow.answers().length === 1);
    t.equal(codeOf(slow.answers()[0]!), 'upstream_failed');
  }
  await isWell();
});

/** The attack: as many slow bodies as there are connections. */
t.test('long bodies leave connections to others', async (t) => {
  const { front, taker, begin } = await stage(t, { caller_share: 1 }, { connections: 4, deadline: '10m' });
  const lines = Array.from({ length: 6 }, () => begin(`${declared(front, LONG)}x`));
  await until('all are under way', async () => (await front.inFlight()) === lines.length);
  await until('some are at their upstream', () => taker.taken.length === 2);
  for (let n = 0; n < 5; n += 1) t.equal(await front.good(), 200);
  for (const { socket } of lines) socket.write('x'.repeat(LONG - 1));
  await until('all are served in the end', () => lines.every(({ answers }) => answers()[0]?.status === 200));
});

t.test('who expects 100 Continue gets it when the body is wanted, and only then', async (t) => {
  const { front, taker, begin } = await stage(t);
  const expecting = (bytes: number, key: string): string =>
    request('POST /v1/pets', key, `Content-Length: ${bytes}`, 'Expect: 100-continue');
  const refused = [begin(expecting(LONG, 'X-None: 1')), begin(expecting(17 * MIB, front.key))];
  await until('each is refused', () => refused.every(({ answers }) => answers().length === 1));
  t.same(
    refused.map(({ text }) => text().slice(9, 12)),
    ['401', '413'],
  );
  const line = begin(expecting(LONG, front.key));
  await until('it may go on', () => line.text() === 'HTTP/1.1 100 Continue\r\n\r\n');
  t.equal(taker.taken.length, 0, 'nothing goes out before a piece came');
  line.socket.write(BODY);
  await until('it is served', () => line.answers().at(-1)?.status === 200);
  t.equal(taker.taken[0]!.request.headers.expect, undefined);
});

async function http2Stage(t: Test): Promise<{ front: Front; taker: Taker }> {
  const taker = await startTaker(t);
  const front = await startFront(t, taker.url, {
    config: { limits: { body_size: '1MiB' } },
    pets: { connections: CONNECTIONS },
    tls: ownCertificate(t),
  });
  return { front, taker };
}

/** The attack: a stream that is reset ends, for whoever reads it, as if its body were whole. */
t.test('over HTTP/2: no reset, whatever its code, and no false length is the end of a body', async (t) => {
  const { front, taker } = await http2Stage(t);
  const key = ['authorization', front.key.replace('Authorization: ', '')] as const;
  const data = (bytes: number, flags = 0): Buffer => frame(TYPE.data, flags, 1, Buffer.alloc(bytes, 'x'));
  const resetWith = (code: number): Buffer => frame(TYPE.reset, 0, 1, uint32(code));
  const length = ['content-length', String(LONG)] as const;
  for (const [name, fields, last] of [
    ['reset: no error', [length], resetWith(constants.NGHTTP2_NO_ERROR)],
    ['reset: cancelled', [length], resetWith(constants.NGHTTP2_CANCEL)],
    ['reset of no length: no error', [], resetWith(constants.NGHTTP2_NO_ERROR)],
    ['reset of no length: cancelled', [], resetWith(constants.NGHTTP2_CANCEL)],
    ['shorter than it says', [length], data(1, FLAG.endStream)],
  ] as const) {
    const client = await openFrames(t, front.target);
    client.write(headers(1, [...pseudo('POST'), key, ...fields], false), data(16_000), data(16_000), data(16_000));
    await until(`${name}: there is room for more`, () =>
      [0, 1].every((id) => client.frames.some(({ type, stream }) => type === TYPE.window && stream === id)),
    );
    client.write(data(16_000), data(16_000));
    await until(`${name}: it is at its upstream`, () => taker.taken.some(({ bytes }) => bytes > 64_000));
    client.write(last);
    await front.idle();
    await until(`${name}: its upstream saw it break`, () => allBroke(taker.taken));
    taker.taken.length = 0;
  }
  for (let n = 0; n <= CONNECTIONS; n += 1) t.equal(await front.good(), 200);
});

t.test('over HTTP/2: a body of no length is bounded, and an answer may come before its end', async (t) => {
  const { front, taker } = await http2Stage(t);
  const client = openHttp2(t, front.target);
  const ask = { method: 'POST', key: front.key };
  const large = client.begin(ask, false);
  large.write('x'.repeat(MIB));
  large.write('x');
  t.equal(codeOf(await answerOf(large)), 'body_too_large');
  await until('its upstream saw it break', () => taker.taken.length === 1 && allBroke(taker.taken));
  taker.begin = (taken) => {
    if (taken.request.method === 'POST') taken.response.writeHead(401).end('no');
    else readAll(taken);
  };
  const early = client.begin(ask, false);
  early.write(BODY);
  t.equal((await answerOf(early)).status, 502, 'what its upstream says of the gateway is no answer');
  for (let n = 0; n <= CONNECTIONS; n += 1) t.equal((await client.send({ key: front.key })).status, 200);
  await front.idle();
});

t.test('SIGTERM: a body on its way comes to its end', async (t) => {
  const { front, taker, begin } = await stage(t, {}, {});
  const line = begin(`${declared(front, LONG)}x`);
  await until('it is at its upstream', () => taker.taken.length === 1);
  const stopped = front.gateway.program.stop('SIGTERM');
  await until('no new one is taken', () =>
    exchangeRaw(front.target, request('OPTIONS *'), 1).then(
      () => false,
      () => true,
    ),
  );
  line.socket.write('x'.repeat(LONG - 1));
  await until('it is served', () => line.answers()[0]?.status === 200);
  await stopped;
});
