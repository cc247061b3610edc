import { connect, type Socket } from 'node:net';
import t from 'tap';
import type { Test } from 'tap';
import { startUpstream } from '../servers/upstream.js';
import { until } from '../servers/until.js';
import { request, startFront } from './front.js';
import { startRawUpstream } from './raw-upstream.js';

const CONNECTIONS = 2;
const MiB = Buffer.alloc(1024 * 1024, 'x');

function dial(t: Test, port: number, bytes: string): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined).write(bytes);
  t.teardown(() => socket.destroy());
  return socket;
}

const upstream = await startUpstream(t);
const front = await startFront(t, upstream.url, { pets: { connections: CONNECTIONS, deadline: '60s' } });

t.beforeEach(() => {
  upstream.seen.length = 0;
});

/**
 * The attack: a client asks for a large answer and leaves in the middle of it. Writing to it then says "wait", and the
 * drain that would go on never comes: the connection to the upstream is stuck for ever.
 */
t.test('a client that leaves during a streamed answer gives the connection back', async (t) => {
  let cut = 0;
  upstream.handle = (_seen, response) => {
    response.on('close', () => (cut += 1));
    const pour = (): void => {
      while (!response.destroyed && response.write(MiB));
      if (!response.destroyed) response.once('drain', pour);
    };
    pour();
  };
  for (let n = 0; n <= CONNECTIONS; n += 1) {
    const client = dial(t, front.port, request('GET /v1/pets', front.key));
    await new Promise((resolve) => client.once('data', resolve));
    client.pause();
    // Long enough that nothing fits into any buffer on the way.
    await until('the gateway waits for its client', async () => (await front.inFlight()) === 1);
    if (n % 2 === 0) client.resetAndDestroy();
    else client.destroy();
    await until('the upstream was told', () => cut === n + 1);
    await front.idle();
  }
  upstream.handle = (_seen, response) => response.end('[]');
  t.equal(await front.good(), 200);
});

/** The attack: the same, while the upstream thinks: nobody reads what it is working on. */
t.test('a client that leaves while waiting gives the connection back', async (t) => {
  let cut = 0;
  upstream.handle = (_seen, response) => void response.on('close', () => (cut += 1));
  for (let n = 0; n <= CONNECTIONS; n += 1) {
    const client = dial(t, front.port, request('GET /v1/pets', front.key));
    await until('the request arrived', () => upstream.seen.length === n + 1);
    client.resetAndDestroy();
    await until('the upstream was told', () => cut === n + 1);
    await front.idle();
  }
  upstream.handle = (_seen, response) => response.end('[]');
  t.equal(await front.good(), 200);
});

/** The attack: leaving while waiting in the pool's queue, in the hope that the work is done all the same. */
t.test('a client that leaves while its request waits for a connection has it never sent', async (t) => {
  const upstream = await startRawUpstream(t);
  const front = await startFront(t, upstream.url, { pets: { connections: 1, deadline: '60s' } });
  upstream.handle = () => undefined;
  const first = dial(t, front.port, request('GET /v1/pets?first', front.key));
  await until('the first arrived', () => upstream.heads.length === 1);
  const second = dial(t, front.port, `${request('POST /v1/pets?second', front.key, 'Content-Length: 2')}{}`);
  await until('the second waits', async () => (await front.inFlight()) === 2);
  second.destroy();
  await until('the second is gone', async () => (await front.inFlight()) === 1);
  upstream.handle = (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]');
  first.destroy();
  await front.idle();
  t.equal(await front.good(), 200);
  t.notOk(
    upstream.heads.some((head) => head.includes('second')),
    'nobody sent what nobody waits for',
  );
});

/**
 * The attack: slow read. The client asks, takes nothing, and stays. The whole answer is written and
 * held for it, and the exchange counts against all others for ever.
 */
t.test('a client that takes nothing of a written answer is cut in time', async (t) => {
  const upstream = await startUpstream(t);
  upstream.handle = (_seen, response) => response.end(Buffer.alloc(60_000, 'x'));
  const front = await startFront(t, upstream.url, { config: { limits: { headers_time: '1s', request_time: '1s' } } });
  const client = dial(t, front.port, request('GET /v1/pets', front.key).repeat(400));
  client.pause();
  await until('an answer waits for its client', async () => (await front.inFlight()) === 1);
  await front.idle();
  t.ok(upstream.seen.length < 400, `of 400 requests ${upstream.seen.length} were taken`);
  t.equal(await front.good(), 200);
});
