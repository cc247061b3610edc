import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import t from 'tap';
import type { Test } from 'tap';
import { checkHonest } from '../answers/honest.js';
import { ownCertificate } from '../servers/certificate.js';
import { block, FLAG, frame, openFrames, pseudo, TYPE, uint32, type FrameClient } from '../servers/frames.js';
import { openHttp2 } from '../servers/http2.js';
import { startUpstream } from '../servers/upstream.js';
import { until } from '../servers/until.js';
import { metricOf, request, startFront, type Front } from './front.js';

/** docs/guides/resource-limits.md names it. */
const MAX_MIB = 400;
/** Before any of these was bounded, some hundred connections ended a gateway with such a heap. */
const environment = { NODE_OPTIONS: '--max-old-space-size=512' };
const MADE_AT_ONCE = 10;

function memoryMiB({ gateway }: Front): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${gateway.program.pid}/status`, 'utf8'))?.[1]) / 1024;
}

/** Another caller than all others of a test. */
async function strike(t: Test, { port }: Front, bytes: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' });
  t.teardown(() => socket.destroy());
  socket.on('error', () => undefined).write(bytes);
  await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
  return socket;
}

async function many<Made>(count: number, make: (n: number) => Promise<Made>): Promise<readonly Made[]> {
  const all: Made[] = [];
  while (all.length < count)
    all.push(...(await Promise.all(Array.from({ length: MADE_AT_ONCE }, (_, n) => make(all.length + n)))));
  return all;
}

async function othersAreServed(t: Test, front: Front): Promise<void> {
  for (let n = 0; n < 20; n += 1) {
    const answer = await front.send(request('GET /v1/pets', front.key));
    t.equal(answer.status, 200, 'others are served');
    checkHonest(t, answer, 'beside the attack');
  }
  t.ok(memoryMiB(front) < MAX_MIB, `at most ${memoryMiB(front).toFixed(0)} MiB`);
}

/**
 * The attack: what comes behind a request that is not answered yet was made and kept, request by request, and byte by
 * byte of a body.
 */
t.test('300 connections that pipeline without end hold little', async (t) => {
  const upstream = await startUpstream(t);
  const front = await startFront(t, upstream.url, {
    environment,
    config: { limits: { caller_share: 1 } },
    pets: { connections: 1000, connect: '1m', deadline: '10m', breaker: 'off' },
  });
  const tails = [
    'GET / HTTP/1.1\r\n\r\n'.repeat(3600),
    'GET / HTTP/1.1\r\n\r\n'.repeat(3600),
    `GET / HTTP/1.1\r\nHost: x\r\n${'a:\r\n'.repeat(90)}\r\n`.repeat(160),
    `${request('POST /v1/pets', 'Transfer-Encoding: chunked')}${'1\r\nx\r\n'.repeat(10_800)}`,
    `GET / HTTP/1.1\r\nHost: x\r\n${'ab:c\r\n'.repeat(2500)}`,
  ];
  upstream.handle = ({ url }, response) => {
    if (!url.includes('hang')) response.end('[]');
  };
  await many(250, (n) => strike(t, front, request('GET /v1/pets?hang', front.key) + tails[n % tails.length]!));
  await many(50, () => strike(t, front, tails[4]!));
  await until('as many as can be are worked on', () => upstream.seen.length === 250, 60_000);
  await othersAreServed(t, front);
});

/**
 * The attack: 4,000 bytes put into the compression's table once, then named by one byte each (RFC 7541 §6.1), as crumbs
 * of one cookie.
 */
t.test(
  '150 connections of HTTP/2 with 100 unpacked cookies each, whose answers nobody takes, hold little',
  async (t) => {
    const upstream = await startUpstream(t);
    const front = await startFront(t, upstream.url, { environment, tls: ownCertificate(t) });
    const put = Buffer.concat([
      Buffer.from([0x40, 6]),
      Buffer.from('cookie'),
      Buffer.from([0x7f, 0xa1, 0x1e]),
      Buffer.alloc(4000, 'y'),
    ]);
    const bomb = (n: number): Buffer =>
      frame(
        TYPE.headers,
        FLAG.endStream + FLAG.endHeaders,
        2 * n + 1,
        Buffer.concat([block(pseudo()), ...(n === 0 ? [put] : []), Buffer.alloc(14, 0xbe)]),
      );
    const bombs = Buffer.concat(Array.from({ length: 100 }, (_, n) => bomb(n)));
    const noWindow = Buffer.concat([Buffer.from([0, 4]), uint32(0)]);
    const clients = await many<FrameClient>(150, async () => {
      const client = await openFrames(t, front.target, noWindow);
      client.write(bombs);
      return client;
    });
    await until(
      'each was answered or refused',
      () =>
        clients.every(
          (client) =>
            client.closed() ||
            client.frames.some(({ type, stream }) => stream === 199 && (type === TYPE.headers || type === TYPE.reset)),
        ),
      60_000,
    );
    await until(
      'answers that are not taken take no place of those who are worked on',
      async () => (await metricOf(front.gateway, 'petgate_exchanges_in_flight')) === 0,
    );
    const other = openHttp2(t, front.target);
    t.equal((await other.send({ key: front.key })).status, 200);
    await othersAreServed(t, front);
  },
);

/** The attack: bodies that never come, until every place of an exchange is taken. */
t.test('1,500 bodies of one caller that never come take no place of others', async (t) => {
  const upstream = await startUpstream(t);
  // A busy machine takes longer to send them all than a body may take.
  const front = await startFront(t, upstream.url, { environment, config: { limits: { request_time: '5m' } } });
  const head = request('POST /v1/pets', front.key, 'Content-Length: 200000');
  let refused = 0;
  await many(1500, async () => {
    const socket = await strike(t, front, `${head}{`);
    socket
      .setEncoding('latin1')
      .on(
        'data',
        (text: string) => (refused += text.startsWith('HTTP/1.1 503') && text.includes('Retry-After: 1') ? 1 : 0),
      );
  });
  await until('all but the part of one caller are refused', () => refused === 1250, 60_000);
  t.equal(await metricOf(front.gateway, 'petgate_exchanges_waiting'), 250);
  await othersAreServed(t, front);
  const posted = await front.send(`${request('POST /v1/pets', front.key, 'Content-Length: 2')}{}`);
  t.equal(posted.status, 200, 'a body of another caller has a place');
});

/** The attack: bodies that come but for their last byte, until memory is gone. */
t.test('bodies on their way are bounded in bytes, and come to their end where there is room', async (t) => {
  const upstream = await startUpstream(t);
  const front = await startFront(t, upstream.url, {
    config: { limits: { body_size: '100KiB', bodies_size: '400KiB' } },
  });
  const head = request('POST /v1/pets', front.key, 'Content-Length: 60000');
  const answers: string[] = [];
  const begin = async (): Promise<Socket> => {
    const socket = await strike(t, front, head + 'x'.repeat(59_999));
    return socket.setEncoding('latin1').on('data', (text: string) => answers.push(text.slice(9, 12)));
  };
  const first = await begin();
  await until('it is held', async () => (await metricOf(front.gateway, 'petgate_exchanges_waiting')) === 1);
  await begin();
  await until('a second one of this caller is refused', () => answers.length === 1);
  t.same(answers, ['503']);
  t.equal((await front.send(`${head}${'x'.repeat(60_000)}`)).status, 200, 'another caller has room');
  first.write('x');
  await until('the first is served', () => answers.length === 2);
  t.same(answers, ['503', '200']);
  await front.idle();
  const again = await begin();
  await until('its room is free again', async () => (await metricOf(front.gateway, 'petgate_exchanges_waiting')) === 1);
  again.write('x');
  await until('and it is served', () => answers.at(-1) === '200' && answers.length === 3);
});
