import { constants } from 'node:http2';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import t from 'tap';
import type { Test } from 'tap';
import { scrape } from '../servers/exposition.js';
import { block, FLAG, frame, headers, openFrames, pseudo, TYPE, uint32 } from '../servers/frames.js';
import type { Field, FrameClient } from '../servers/frames.js';
import { openHttp2 } from '../servers/http2.js';
import type { Upstream } from '../servers/upstream.js';
import { until } from '../servers/until.js';
import { startHttp2Front, type Front } from './front.js';

/** Memory that no flood may cost; what garbage waits to be collected is in it. */
const MAX_BYTES = 150 * 1024 * 1024;

let upstream: Upstream;
let front: Front;
let key: Field;

t.before(async () => {
  // Fewer than a thousand: what one connection may begin must leave room for others.
  ({ upstream, front, key } = await startHttp2Front(t, { config: { limits: { exchanges: 700 } } }));
});

const memoryBytes = async (): Promise<number> =>
  (await scrape(front.gateway.adminUrl)).value('petgate_process_resident_memory_bytes');

/** Floods, while others are asked for their answers; then all is well, and nothing is left over. */
async function flood(
  t: Test,
  name: string,
  attack: (client: FrameClient) => readonly Buffer[],
  closes: boolean,
): Promise<FrameClient> {
  const before = await memoryBytes();
  const other = openHttp2(t, front.target);
  await other.send({ key: front.key });
  const client = await openFrames(t, front.target);
  client.write(Buffer.concat(attack(client)));
  let slowestMs = 0;
  for (let asked = 0; asked < 10; asked += 1) {
    const startMs = performance.now();
    t.equal((await other.send({ key: front.key })).status, 200);
    slowestMs = Math.max(slowestMs, performance.now() - startMs);
  }
  t.ok(slowestMs < 10_000, `${name}: others are served, the slowest in ${slowestMs.toFixed(0)} ms`);
  if (closes) await until(`${name}: its connection is cut`, client.closed);
  else client.socket.destroy();
  await front.idle();
  const grown = (await memoryBytes()) - before;
  t.ok(grown < MAX_BYTES, `${name}: ${(grown / 1024 / 1024).toFixed(0)} MiB more`);
  other.session.destroy();
  return client;
}

const times = (count: number, make: (index: number) => Buffer): readonly Buffer[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** The attack: CVE-2023-44487. A stream costs its client a frame, and its server a request. */
t.test(
  'streams opened and reset by the thousand: cut, each that was admitted in the ledger once, its request behind ' +
    'aborted',
  async (t) => {
    let open = 0;
    upstream.handle = (_seen, response) => {
      open += 1;
      response.on('close', () => (open -= 1));
      setTimeout(() => response.end('[]'), 20);
    };
    const reset = (stream: number): Buffer => frame(TYPE.reset, 0, stream, uint32(constants.NGHTTP2_CANCEL));
    const cut = await flood(
      t,
      'in one write',
      () => times(3000, (n) => Buffer.concat([headers(2 * n + 1, [...pseudo(), key]), reset(2 * n + 1)])),
      true,
    );
    t.match(await cut.endOf(99_999), /^(?:goaway [1-9]\d*|closed)$/);
    const refused = (await scrape(front.gateway.adminUrl)).series
      .filter(({ name, labels }) => name === 'petgate_refusals_total' && labels['code'] === 'overloaded')
      .map(({ value }) => value)
      .filter((value) => value > 0);
    t.same(refused, [], 'it was cut before it had every place there is');

    const client = await openFrames(t, front.target);
    let stream = 1;
    for (let wave = 0; wave < 40 && !client.closed(); wave += 1) {
      const first = stream;
      const seen = upstream.seen.length;
      for (let n = 0; n < 50; n += 1, stream += 2) client.write(headers(stream, [...pseudo(), key]));
      await until(
        'the wave is behind, or refused',
        () =>
          client.closed() ||
          upstream.seen.length > seen ||
          client.frames.some((found) => found.type === TYPE.reset && found.stream === first),
      );
      client.write(...times(50, (n) => reset(first + 2 * n)));
    }
    await until('in waves: its connection is cut', client.closed);
    t.ok(stream < 2 * 40 * 50, `after ${(stream - 1) / 2} streams`);
    await front.idle();
    await until('nothing is left behind', () => open === 0);
    upstream.handle = (_seen, response) => response.end('[]');

    const today = new Date().toISOString().slice(0, 10);
    const ledger = async (): Promise<number> =>
      (
        (await front.gateway.admin('GET', `/admin/v1/usage?by=key&format=json&from=${today}&to=${today}`)).body as {
          totals: { requests: number };
        }
      ).totals.requests;
    const lines = (): readonly Readonly<Record<string, unknown>>[] => front.gateway.exchanges();
    const counted = await ledger();
    await until(
      'as many lines say counted',
      () => lines().filter((line) => line['counted'] === true).length === counted,
    );
    t.equal(new Set(lines().map(({ request }) => request)).size, lines().length, 'each told of once');
    t.equal((await scrape(front.gateway.adminUrl)).value('petgate_admitted_total'), counted, 'and so says the counter');
    t.ok(upstream.seen.length <= counted, `${counted} counted, ${upstream.seen.length} seen behind`);
  },
);

/** The attack: CVE-2025-8671. The client makes the gateway reset the streams, by frames that break the rules. */
t.test('streams that the gateway is made to reset: cut as well', async (t) => {
  await flood(
    t,
    'windows grown by nothing',
    () =>
      times(2000, (n) =>
        Buffer.concat([headers(2 * n + 1, [...pseudo(), key]), frame(TYPE.window, 0, 2 * n + 1, uint32(0))]),
      ),
    true,
  );
  await flood(
    t,
    'malformed heads',
    () => times(3000, (n) => headers(2 * n + 1, [...pseudo(), ['connection', 'x']])),
    true,
  );
});

t.test('a header that goes on for ever, or unpacks to more than it is: reset or cut, never kept', async (t) => {
  const continuation = (bytes: number): Buffer => frame(TYPE.continuation, 0, 1, block([['x', 'y'.repeat(bytes)]]));
  const begun = frame(TYPE.headers, FLAG.endStream, 1, block(pseudo()));
  await flood(t, 'CONTINUATION', () => [begun, ...times(5000, () => continuation(1000))], true);
  await flood(t, 'empty CONTINUATION', () => [begun, ...times(50_000, () => frame(TYPE.continuation, 0, 1))], true);

  // 4,000 bytes put into the compression's table once, then named by one byte each (RFC 7541 §6.1, §6.2.1).
  const put = Buffer.concat([
    Buffer.from([0x40, 1]),
    Buffer.from('x'),
    Buffer.from([0x7f, 0xa1, 0x1e]),
    Buffer.alloc(4000, 'y'),
  ]);
  const bomb = (stream: number, first: boolean): Buffer =>
    frame(
      TYPE.headers,
      FLAG.endStream + FLAG.endHeaders,
      stream,
      Buffer.concat([block(pseudo()), ...(first ? [put] : []), Buffer.alloc(10_000, 0xbe)]),
    );
  const client = await flood(t, 'a compression bomb', () => times(100, (n) => bomb(2 * n + 1, n === 0)), false);
  t.ok(client.frames.filter(({ type }) => type === TYPE.headers).length === 0, 'none of them was answered');
  t.ok(
    client.closed() ||
      client.frames.some(
        ({ type, payload }) => type === TYPE.reset && payload.readUInt32BE(0) === constants.NGHTTP2_ENHANCE_YOUR_CALM,
      ),
    'each is reset: ENHANCE_YOUR_CALM',
  );
});

/** The attack: what a client may not send in a head it sends behind a body, again and again. */
t.test('trailers above the limits: cut with the fifth', async (t) => {
  const large: readonly Field[] = Array.from({ length: 150 }, (): Field => ['x', '1']);
  const client = await openFrames(t, front.target);
  const post = (stream: number, trailers: readonly Field[]): readonly Buffer[] => [
    headers(stream, [...pseudo('POST'), key, ['content-type', 'application/json']], false),
    frame(TYPE.data, 0, stream, '{}'),
    headers(stream, trailers),
  ];
  client.write(...post(1, [['x-sum', '1']]));
  t.match(await client.endOf(1), /^answer/, 'ordinary ones are dropped');
  for (let n = 1; n <= 4; n += 1) {
    client.write(...post(2 * n + 1, large));
    t.match(await client.endOf(2 * n + 1), /^answer/, 'so are four large ones');
  }
  t.notOk(client.closed());
  client.write(...post(11, large));
  await until('its connection is cut', client.closed);
  const goaway = client.frames.find(({ type }) => type === TYPE.goaway);
  t.equal(goaway?.payload.readUInt32BE(4), constants.NGHTTP2_ENHANCE_YOUR_CALM);
  await front.idle();
});

t.test('connections that end with their handshake, or in the middle of a frame, leave nothing', async (t) => {
  for (let n = 0; n < 100; n += 1) {
    const client = await openFrames(t, front.target);
    if (n % 2 === 0) client.write(headers(1, [...pseudo('POST'), key], false).subarray(0, 20));
    client.socket.destroy();
  }
  const resets = Array.from(
    { length: 100 },
    () =>
      new Promise<void>((resolve) => {
        const raw = connect((front.target as { port: number }).port, '127.0.0.1');
        const socket = connectTls(
          { socket: raw, servername: 'localhost', ALPNProtocols: ['h2'], ca: (front.target as { ca: string }).ca },
          () => raw.resetAndDestroy(),
        );
        socket.on('error', () => undefined);
        raw.on('error', () => undefined).on('close', () => resolve());
      }),
  );
  await Promise.all(resets);
  await until(
    'no connection is left',
    async () => (await scrape(front.gateway.adminUrl)).value('petgate_connections') === 0,
  );
  t.equal((await openHttp2(t, front.target).send({ key: front.key })).status, 200);
  await front.idle();
});

t.test('floods of frames that ask for an answer, or for nothing: others are served', async (t) => {
  await flood(
    t,
    'PING, answers unread',
    (client) => {
      client.socket.pause();
      return times(200_000, () => frame(TYPE.ping, 0, 0, '12345678'));
    },
    false,
  );
  await flood(
    t,
    'SETTINGS, answers unread',
    (client) => {
      client.socket.pause();
      return times(200_000, () => frame(TYPE.settings, 0, 0));
    },
    false,
  );
  await flood(
    t,
    'empty DATA',
    () => [headers(1, [...pseudo('POST'), key], false), ...times(50_000, () => frame(TYPE.data, 0, 1))],
    true,
  );
  await flood(
    t,
    'WINDOW_UPDATE',
    () => [headers(1, [...pseudo('POST'), key], false), ...times(100_000, () => frame(TYPE.window, 0, 1, uint32(1)))],
    false,
  );
  await flood(
    t,
    'PRIORITY',
    () => times(100_000, (n) => frame(TYPE.priority, 0, 2 * n + 1, Buffer.from([0, 0, 0, 0, 1]))),
    false,
  );
  await flood(t, 'frames of no known type', () => times(100_000, () => frame(0xee, 0, 0, '12345678')), false);
});
