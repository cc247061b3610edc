import { once } from 'node:events';
import { stat } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import type { Controller, OutgoingRequest } from '../../../../src/gateway/upstream/http1/transport.js';
import { fullPort } from '../../../servers/full-port.js';
import { temporaryFolder } from '../../../servers/program.js';
import { until } from '../../../servers/until.js';
import { ended, GET, listen, OK, open, send, whole, type Sent } from './service.js';

t.test('requests go out as RFC 9112 asks, one after the other on a connection that is kept', async (t) => {
  const service = await listen(t);
  const pool = open(t, service.port, { connections: 1 });
  const requests: readonly OutgoingRequest[] = [
    GET,
    { ...GET, method: 'POST', headers: [] },
    { ...GET, method: 'POST', headers: [], body: whole(Buffer.from('{"name":"caf\u00e9"}')) },
    { ...GET, method: 'DELETE', headers: [], body: whole(Buffer.alloc(0)) },
    { ...GET, method: 'PUT', headers: [], body: whole(Buffer.alloc(20_000, 'x')) },
  ];
  for (const request of requests) t.strictSame(await ended(send(pool, request)), [['ended', 200, '[]']]);
  const lines = '/v1/pets HTTP/1.1\r\nHost: pets.example\r\nConnection: keep-alive\r\n';
  t.equal(
    service.received,
    [
      `GET ${lines}X-One: 1\r\nX-Latin: caf\u00e9\r\n\r\n`,
      `POST ${lines}Content-Length: 0\r\n\r\n`,
      `POST ${lines}Content-Length: 16\r\n\r\n{"name":"caf\u00c3\u00a9"}`,
      `DELETE ${lines}\r\n`,
      `PUT ${lines}Content-Length: 20000\r\n\r\n${'x'.repeat(20_000)}`,
    ].join(''),
  );
  t.equal(service.sockets.length, 1);
  t.strictSame(pool.stats, { connected: 1, queued: 0 });
});

t.test('where idle connections are kept for no time, each request has its own', async (t) => {
  const service = await listen(t);
  const pool = open(t, service.port, { idleMs: 0 });
  for (let n = 0; n < 3; n += 1) t.strictSame(await ended(send(pool)), [['ended', 200, '[]']]);
  t.equal(service.sockets.length, 3);
});

t.test('over a Unix socket, too', async (t) => {
  const path = join(temporaryFolder(t), 'pets.sock');
  await listen(t, path);
  t.strictSame(await ended(send(open(t, 0, { target: { path } }))), [['ended', 200, '[]']]);
});

t.test('so many connections, and not one more; those that wait are served in their order', async (t) => {
  const service = await listen(t);
  const held: Socket[] = [];
  service.handle = (socket) => void held.push(socket);
  const pool = open(t, service.port);
  const sent = Array.from({ length: 5 }, (_, n) => send(pool, { ...GET, target: `/${n}` }));
  await until('two are there', () => held.length === 2);
  t.strictSame(pool.stats, { connected: 2, queued: 3 });
  service.handle = (socket) => void socket.write(OK);
  for (const socket of held) socket.write(OK);
  await ended(...sent);
  t.equal(service.sockets.length, 2);
  const alone = open(t, service.port, { connections: 1 });
  service.received = '';
  await ended(...Array.from({ length: 5 }, (_, n) => send(alone, { ...GET, target: `/${n}` })));
  t.strictSame(
    [...service.received.matchAll(/GET \/(\d)/g)].map(([, n]) => n),
    ['0', '1', '2', '3', '4'],
  );
});

t.test('one that is given up while it waits is never sent, and tells nobody', async (t) => {
  const service = await listen(t);
  service.handle = () => undefined;
  const pool = open(t, service.port, { connections: 1 });
  const first = send(pool);
  const second = send(pool, { ...GET, target: '/second' });
  await until('the first is there', () => service.received !== '');
  second.controller.abort();
  t.strictSame(pool.stats, { connected: 1, queued: 0 });
  service.sockets[0]!.write(OK);
  await ended(first);
  const third = send(pool, { ...GET, target: '/third' });
  await until('the third is there', () => service.received.includes('/third'));
  t.notMatch(service.received, '/second');
  t.strictSame([second.started, second.end], [false, null]);
  second.controller.abort();
  service.sockets[0]!.write(OK);
  t.strictSame(await ended(third), [['ended', 200, '[]']], 'giving it up again does nothing to those after it');
});

t.test('one that is given up under way closes its connection, and the next has another', async (t) => {
  const service = await listen(t);
  service.handle = () => undefined;
  const pool = open(t, service.port, { connections: 1 });
  const first = send(pool);
  await until('it is there', () => service.received !== '');
  const closed = once(service.sockets[0]!, 'close');
  service.handle = (socket) => void socket.write(OK);
  const second = send(pool);
  first.controller.abort();
  t.strictSame(await ended(second), [['ended', 200, '[]']]);
  await closed;
  t.equal(first.end, null);
});

t.test('nobody listens: each is told that nothing was sent', async (t) => {
  const service = await listen(t);
  const { port } = service;
  const taken = open(t, 1);
  const all = Array.from({ length: 7 }, () => send(taken));
  t.strictSame(await ended(...all), Array(7).fill(['failed', 0, '']));
  t.ok(all.every(({ started }) => !started));
  t.strictSame(taken.stats, { connected: 0, queued: 0 });
  t.strictSame(await ended(send(open(t, port))), [['ended', 200, '[]']]);
});

t.test('no connection within its time: the same', async (t) => {
  const sent = send(open(t, await fullPort(t), { connectMs: 50 }));
  await ended(sent);
  t.strictSame([sent.started, sent.end], [false, 'failed']);
});

t.test('a connection that ends before the answer is whole fails its request alone', async (t) => {
  const service = await listen(t);
  const pool = open(t, service.port, { connections: 1 });
  for (const part of ['', 'HTTP/1.1 200 OK\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n[]']) {
    for (const cut of [
      (socket: Socket) => void socket.end(part),
      (socket: Socket) => void socket.write(part, () => socket.resetAndDestroy()),
    ]) {
      service.handle = cut;
      const sent = send(pool);
      await ended(sent);
      t.strictSame([sent.started, sent.end], [true, 'failed'], JSON.stringify(part));
    }
  }
  service.handle = (socket) => void socket.end('HTTP/1.1 200 OK\r\n\r\n[]');
  t.strictSame(await ended(send(pool)), [['ended', 200, '[]']], 'unless that is its end');
});

t.test('what is closed, or may be, is not used again', async (t) => {
  const service = await listen(t);
  const pool = open(t, service.port, { connections: 1 });
  const answers = {
    'it says so': 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n[]',
    'among others': 'HTTP/1.1 200 OK\r\nConnection: x, Close\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\n[]',
    'HTTP/1.0': 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n[]',
    soon: 'HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 2\r\n\r\n[]',
    surplus: `${OK}x`,
  };
  for (const [name, answer] of Object.entries(answers)) {
    service.handle = (socket) => void socket.write(answer);
    const before = service.sockets.length;
    t.strictSame(await ended(send(pool)), [['ended', 200, '[]']], name);
    t.strictSame(await ended(send(pool)), [['ended', 200, '[]']], name);
    t.equal(service.sockets.length, before + 2, name);
  }
  service.handle = (socket) =>
    void socket.write('HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\n[]');
  const before = service.sockets.length;
  await ended(send(pool));
  await ended(send(pool));
  t.equal(service.sockets.length, before + 1, 'HTTP/1.0 may be kept where it says so');
});

t.test('one given up while the rest of its answer is read is not the end of the next', async (t) => {
  const service = await listen(t);
  const pool = open(t, service.port, { connections: 1 });
  const first = send(pool, GET, (controller) => {
    controller.abort();
    // Asked for at once: before the socket tells that it is closed.
    second = send(pool, { ...GET, method: 'POST' });
  });
  let second = first;
  await until('it is given up', () => second !== first);
  t.strictSame(await ended(second), [['ended', 200, '[]']]);
  t.equal(first.end, null);
});

t.test('bytes on an idle connection end it', async (t) => {
  const service = await listen(t);
  const pool = open(t, service.port, { connections: 1 });
  await ended(send(pool));
  service.sockets[0]!.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil');
  await until('it is closed', () => pool.stats.connected === 0);
  t.strictSame(await ended(send(pool)), [['ended', 200, '[]']]);
});

t.test("an idle connection is closed after its time, or the server's", async (t) => {
  const service = await listen(t);
  const pool = open(t, service.port, { connections: 1, idleMs: 20 });
  await ended(send(pool));
  await until('it is closed', () => pool.stats.connected === 0);
  t.strictSame(await ended(send(pool)), [['ended', 200, '[]']]);
});

t.test('an answer nobody takes is not read on, and the connection is well after it', async (t) => {
  const service = await listen(t);
  const size = 64 * 1024 * 1024;
  service.handle = (socket) => {
    service.handle = (later) => void later.write(OK);
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`);
    socket.write(Buffer.alloc(size, 'x'));
  };
  const pool = open(t, service.port, { connections: 1 });
  let taken = 0;
  let paused = null as Controller | null;
  pool.dispatch(GET, {
    onRequestStart: () => undefined,
    onResponseStart: () => undefined,
    onResponseEnd: () => void (taken = size),
    onResponseError: () => t.fail('it broke'),
    onFault: () => t.fail('it broke'),
    onResponseData: (controller) => {
      if (paused === null) controller.pause();
      paused ??= controller;
    },
  });
  await until('the server has to wait', () => paused !== null && (service.sockets[0]?.writableLength ?? 0) > 0);
  const waiting = service.sockets[0]!.writableLength;
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.equal(service.sockets[0]!.writableLength, waiting);
  paused!.resume();
  await until('all of it came', () => taken === size);
  t.strictSame(await ended(send(pool)), [['ended', 200, '[]']]);
  t.equal(service.sockets.length, 1);
});

t.test('closed, it ends what it has and takes no more; destroyed, it ends at once', async (t) => {
  const service = await listen(t);
  service.handle = () => undefined;
  const pool = open(t, service.port, { connections: 1 });
  const [first, second] = [send(pool), send(pool)];
  await until('one is there', () => service.received !== '');
  const closed = pool.close();
  const late = send(pool);
  t.strictSame(await ended(late), [['failed', 0, '']]);
  service.handle = (socket) => void socket.write(OK);
  service.sockets[0]!.write(OK);
  t.strictSame(await ended(first, second), [
    ['ended', 200, '[]'],
    ['ended', 200, '[]'],
  ]);
  await closed;
  t.strictSame(pool.stats, { connected: 0, queued: 0 });

  const other = open(t, service.port, { connections: 1 });
  service.handle = () => undefined;
  const both = [send(other), send(other)];
  await until('one has begun', () => both[0]!.started);
  other.destroy();
  t.strictSame(await ended(...both), [
    ['failed', 0, ''],
    ['failed', 0, ''],
  ]);
  await until('it is closed', () => other.stats.connected === 0);
});

t.test('a POST goes out on another connection where the one it had was reset before it was written', async (t) => {
  const service = await listen(t);
  // Of a long body what follows the head is no request.
  service.handle = (socket, text) => {
    if (!text.startsWith('x')) socket.write(OK);
  };
  const pool = open(t, service.port, { connections: 3 });
  for (const body of [Buffer.from('{}'), Buffer.alloc(100_000, 'x')]) {
    await ended(...Array.from({ length: 3 }, () => send(pool)));
    const sent = await new Promise<Sent>((resolve) => {
      // Among the reads of a turn, behind which requests are handed out: nobody can have seen the resets by then.
      stat('.', () => {
        for (const socket of service.sockets.splice(0)) socket.resetAndDestroy();
        resolve(send(pool, { ...GET, method: 'POST', body: whole(body) }));
      });
    });
    t.same(await ended(sent), [['ended', 200, '[]']]);
  }
});

t.test(
  'a connection that is used all the time is closed after its lifetime, so that a changed name is asked for',
  async (t) => {
    const service = await listen(t);
    const pool = open(t, service.port, { connections: 1, lifetimeMs: 100 });
    const endMs = performance.now() + 2000;
    while (service.sockets.length < 3 && performance.now() < endMs)
      t.same(await ended(send(pool)), [['ended', 200, '[]']]);
    t.equal(service.sockets.length, 3, 'the third connection within two seconds');
  },
);

t.test('an answer before the end of a long body: the server gets the rest of it', async (t) => {
  const service = await listen(t);
  const size = 20_000_000;
  let bytes = 0;
  service.handle = (socket, text) => {
    if (bytes === 0) socket.write(OK);
    bytes += text.length;
  };
  const pool = open(t, service.port, { connections: 1 });
  const sent = send(pool, { ...GET, method: 'POST', body: whole(Buffer.alloc(size, 'x')) });
  t.same(await ended(sent), [['ended', 200, '[]']]);
  await until('all of it came', () => bytes > size);
  await until('its connection is closed', () => pool.stats.connected === 0);
});
