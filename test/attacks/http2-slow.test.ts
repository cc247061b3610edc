import { once } from 'node:events';
import { constants } from 'node:http2';
import type { ServerResponse } from 'node:http';
import t from 'tap';
import type { Test } from 'tap';
import { checkHonest, codeOf } from '../answers/honest.js';
import { ownCertificate } from '../servers/certificate.js';
import { block, FLAG, frame, headers, openFrames, pseudo, TYPE, uint32, type Field } from '../servers/frames.js';
import { answerOf, openHttp2 } from '../servers/http2.js';
import { statusesOf } from '../servers/raw.js';
import { startUpstream, type Upstream } from '../servers/upstream.js';
import { until } from '../servers/until.js';
import { metricOf, startFront, type Front } from './front.js';

/** Connections are looked at once a second, a dismissed one has two more to go; a busy machine takes longer. */
const TICKS_MS = 20_000;

async function start(
  t: Test,
  limits: Readonly<Record<string, unknown>>,
  pets: Readonly<Record<string, unknown>> = {},
): Promise<{ front: Front; upstream: Upstream; key: Field }> {
  const upstream = await startUpstream(t);
  const front = await startFront(t, upstream.url, {
    tls: ownCertificate(t),
    config: { limits: { caller_share: 1, ...limits } },
    pets,
  });
  return { front, upstream, key: ['authorization', front.key.replace('Authorization: ', '')] };
}

const initialWindow = (bytes: number): Buffer =>
  Buffer.concat([Buffer.from([0, constants.NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE]), uint32(bytes)]);
const NO_WINDOW = initialWindow(0);
const sinceMs = (startMs: number): number => performance.now() - startMs;

/** The attack: slowloris, stream by stream. A body that drips, and beside it requests that are well. */
t.test('a body that takes too long is a 408 in time, however alive it looks, and its connection goes on', async (t) => {
  const { front, upstream } = await start(t, { request_time: '1s', headers_time: '1s' });
  const client = openHttp2(t, front.target);
  const startMs = performance.now();
  const slow = Array.from({ length: 20 }, () => client.begin({ key: front.key, method: 'POST' }, false));
  const drip = setInterval(() => slow.forEach((stream) => stream.closed || stream.write('x')), 50);
  t.teardown(() => clearInterval(drip));
  const answers = Promise.all(slow.map(answerOf));
  t.equal((await client.send({ key: front.key })).status, 200, 'others are served meanwhile');
  for (const answer of await answers) {
    t.same([answer.status, codeOf(answer), answer.reset], [408, 'request_timeout', constants.NGHTTP2_NO_ERROR]);
    checkHonest(t, answer, '408');
  }
  t.ok(sinceMs(startMs) > 950 && sinceMs(startMs) < 20_000, `after ${sinceMs(startMs).toFixed(0)} ms`);
  clearInterval(drip);
  t.equal((await client.send({ key: front.key })).status, 200);
  t.equal(upstream.seen.length, 2, 'nothing of it went to the upstream');
  await front.idle();
});

/** The attack: slowloris in the header, where HTTP/2 lets nobody be answered: a block that never ends. */
t.test(
  'a header block that never ends, a connection that says nothing, one that only pings: all are closed',
  async (t) => {
    const { front, key } = await start(t, { request_time: '2s', headers_time: '1s', keep_alive: '2s' });
    const never = await openFrames(t, front.target);
    const later = await openFrames(t, front.target);
    const silent = await openFrames(t, front.target);
    const pinging = await openFrames(t, front.target);
    later.write(headers(1, [...pseudo(), key]));
    t.equal(await later.endOf(1), 'answer 88');
    const startMs = performance.now();
    for (const [client, stream] of [
      [never, 1],
      [later, 3],
    ] as const)
      client.write(frame(TYPE.headers, FLAG.endStream, stream, block(pseudo())));
    const drip = setInterval(() => pinging.write(frame(TYPE.ping, 0, 0, '12345678')), 100);
    t.teardown(() => clearInterval(drip));
    for (const [name, client, limitMs] of [
      ['a header block', never, 1000],
      ['silence', silent, 1000],
      ['pings', pinging, 1000],
      ['a later header block', later, 2000],
    ] as const) {
      await until(`${name}: closed`, client.closed);
      t.ok(
        sinceMs(startMs) > limitMs - 200 && sinceMs(startMs) < limitMs + TICKS_MS,
        `${name}: after ${sinceMs(startMs).toFixed(0)} ms`,
      );
      t.match(
        client.frames.filter(({ type }) => type === TYPE.goaway).map(({ payload }) => payload.readUInt32BE(4)),
        [0],
        `${name}: told in order`,
      );
    }
    clearInterval(drip);
    const idle = openHttp2(t, front.target);
    t.equal((await idle.send({ key: front.key })).status, 200);
    await until('an idle client is dismissed too', idle.closed);
    await front.idle();
  },
);

/** The attack: answers asked for and never taken. Each holds memory, and a place among the exchanges. */
t.test('a client that opens no window, or stops to read, is cut after request_time; others are served', async (t) => {
  const { front, upstream, key } = await start(
    t,
    { request_time: '1s', headers_time: '1s', keep_alive: '1s' },
    // On a busy machine the upstream, which is this process, may be late for many at once: that is not what is tried
    // here.
    { deadline: '2s', connect: '1m', breaker: 'off' },
  );
  upstream.handle = ({ url }, response) => response.end(Buffer.alloc(url.includes('large') ? 20_000_000 : 60_000, 'x'));
  const shut = await openFrames(t, front.target, NO_WINDOW);
  const startMs = performance.now();
  shut.write(
    ...Array.from({ length: 50 }, (_, n) =>
      headers(2 * n + 1, [...pseudo('GET', n % 2 === 0 ? '/v1/pets?large' : '/v1/pets'), key]),
    ),
  );
  await until('they are under way', () => upstream.seen.length === 50);
  for (let stream = 1; stream < 100; stream += 2)
    t.equal(await shut.endOf(stream), `reset ${constants.NGHTTP2_INTERNAL_ERROR}`);
  t.ok(sinceMs(startMs) > 950, `window shut: after ${sinceMs(startMs).toFixed(0)} ms`);
  await front.idle();

  const deaf = await openFrames(t, front.target, initialWindow(0x7fffffff));
  deaf.write(
    frame(TYPE.window, 0, 0, uint32(0x7fff0000 - 65_535)),
    ...Array.from({ length: 50 }, (_, n) => headers(2 * n + 1, [...pseudo('GET', '/v1/pets?large'), key])),
  );
  deaf.socket.pause();
  await until('all are under way', () => upstream.seen.length === 100);
  const client = openHttp2(t, front.target);
  await until('others are served', async () => (await client.send({ key: front.key })).body.length === 60_000);
  await front.idle();
  await until(
    'and the deaf connection is closed, like the idle one',
    async () => (await front.inFlight()) === 0 && (await connections(front)) === 0,
  );
});

/** The accident: a slow client is not a dead one. */
t.test('a client that takes its answer slowly gets all of it', async (t) => {
  const { front, upstream, key } = await start(t, { request_time: '1s', headers_time: '1s' });
  upstream.handle = (_seen, response) => response.end(Buffer.alloc(60_000, 'x'));
  const client = await openFrames(t, front.target, NO_WINDOW);
  const startMs = performance.now();
  client.write(headers(1, [...pseudo(), key]));
  const sip = setInterval(() => client.write(frame(TYPE.window, 0, 1, uint32(8192))), 300);
  t.teardown(() => clearInterval(sip));
  t.equal(await client.endOf(1), 'answer 88');
  t.equal(
    client.frames.filter(({ type }) => type === TYPE.data).reduce((sum, { payload }) => sum + payload.length, 0),
    60_000,
  );
  t.ok(sinceMs(startMs) > 2000, `in ${sinceMs(startMs).toFixed(0)} ms`);
});

const connections = async ({ gateway }: Front): Promise<number> => {
  const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  return Number(/^petgate_connections (\d+)$/m.exec(text)?.[1]);
};

t.test(
  'requests at once on a connection, and in all; connections; requests per connection: each has its limit',
  async (t) => {
    const { front, upstream, key } = await start(t, {
      streams: 10,
      exchanges: 15,
      connections: 3,
      requests_per_connection: 12,
      headers_time: '30s',
    });
    const held: ServerResponse[] = [];
    upstream.handle = (_seen, response) => void held.push(response);
    const frames = await openFrames(t, front.target);
    const told = frames.frames.find(({ type }) => type === TYPE.settings)!.payload;
    t.ok(
      told.includes(Buffer.concat([Buffer.from([0, constants.NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS]), uint32(10)])),
      'the client is told',
    );
    frames.write(...Array.from({ length: 10 }, (_, n) => headers(2 * n + 1, [...pseudo(), key])));
    await until('ten are under way', () => held.length === 10);
    const other = openHttp2(t, front.target);
    const five = Array.from({ length: 5 }, () => other.send({ key: front.key }));
    await until('fifteen are under way', () => held.length === 15);
    const shed = await other.send({ key: front.key });
    t.same(
      [shed.status, shed.reset],
      [0, constants.NGHTTP2_REFUSED_STREAM],
      'told that it was not worked on, so that it may be sent again',
    );
    await until('and told of', async () => (await metricOf(front.gateway, 'petgate_refusals_total')) === 1);
    frames.write(headers(21, [...pseudo(), key]));
    t.match(await frames.endOf(21), /^(?:reset 7|goaway 1|closed)$/, 'who opens more than it was told is refused');
    upstream.handle = (_seen, response) => response.end('[]');
    for (const response of held) response.end('[]');
    t.same(statusesOf(await Promise.all(five)), [200, 200, 200, 200, 200]);
    frames.socket.destroy();
    await front.idle();

    for (let served = 5; served < 12; served += 1) t.equal((await other.send({ key: front.key })).status, 200);
    await until('the twelfth was the last of its connection', other.closed);
    const next = openHttp2(t, front.target);
    t.equal((await next.send({ key: front.key })).status, 200, 'a new one is taken');
    const more = Array.from({ length: 3 }, () => openHttp2(t, front.target));
    await until('one connection too many is dropped', () => more.some(({ closed }) => closed()));
    t.equal(more.filter(({ closed }) => closed()).length, 1);
  },
);

t.test('a client that resets a stream, or leaves, aborts its request behind; each is notified of once', async (t) => {
  const { front, upstream } = await start(t, {});
  let aborted = 0;
  upstream.handle = (_seen, response) => {
    response.on('close', () => (aborted += 1));
    response.writeHead(200).write('x'.repeat(100_000));
  };
  const client = openHttp2(t, front.target);
  const stream = client.begin({ key: front.key }, true);
  const other = client.begin({ key: front.key }, true);
  const waiting = client.begin({ key: front.key, method: 'POST' }, false);
  await Promise.all([once(stream, 'response'), once(other, 'response')]);
  stream.close(constants.NGHTTP2_CANCEL);
  await until('the request behind is aborted', () => aborted === 1);
  waiting.close(constants.NGHTTP2_CANCEL);
  await until('two are let go', async () => (await front.inFlight()) === 1);
  t.notOk(other.closed, 'the other stream goes on');
  client.session.destroy();
  await until('it is aborted as well', () => aborted === 2);
  await front.idle();
  await until('three lines', () => front.gateway.exchanges().length === 3);
  t.same(
    front.gateway
      .exchanges()
      .map(({ method, status, counted }) => [method, status, counted])
      .sort(),
    [
      ['GET', 200, true],
      ['GET', 200, true],
      ['POST', 499, true],
    ],
  );
});

/** The attack is an upstream's: an answer that breaks off must not look whole. */
t.test('an answer that breaks off is reset, never ended, and its connection goes on', async (t) => {
  const { front, upstream } = await start(t, {});
  const client = openHttp2(t, front.target);
  for (const length of [null, 200_000]) {
    upstream.handle = (_seen, response) => {
      response.writeHead(200, length === null ? {} : { 'content-length': length }).write('x'.repeat(100_000));
      setTimeout(() => response.destroy(), 100);
    };
    const answer = await client.send({ key: front.key });
    t.same([answer.status, answer.reset], [200, constants.NGHTTP2_INTERNAL_ERROR]);
    t.ok(answer.body.length <= 100_000);
  }
  upstream.handle = (_seen, response) => response.end('[]');
  t.equal((await client.send({ key: front.key })).status, 200);
  t.notOk(client.closed());
  await front.idle();
});
