import type { Socket } from 'node:net';
import t from 'tap';
import type { OutgoingRequest } from '../../../../src/gateway/upstream/transport.js';
import { until } from '../../../servers/until.js';
import { randomOf } from './read.js';
import { ended, GET, listen, open, send } from './service.js';
import type { Sent } from './service.js';

const TARGET = /^(?:GET|HEAD|POST) (\/\S*)/gm;
const targets = (text: string): readonly string[] => [...text.matchAll(TARGET)].map(([, target]) => target!);
const get = (target: string): OutgoingRequest => ({ ...GET, target });
const answer = (target: string, more = ''): string =>
  `HTTP/1.1 200 OK\r\nContent-Length: ${target.length}\r\n${more}\r\n${target}`;
/** Answers every request in a piece of what came, in one write. */
function answerAll(socket: Socket, text: string): void {
  const answers = targets(text).map((target) => answer(target));
  socket.write(answers.join(''));
}
const good = (...all: readonly string[]): readonly unknown[] => all.map((target) => ['ended', 200, target]);

t.test('GETs of one turn share a write and a connection, and each gets its own answer', async (t) => {
  const service = await listen(t);
  const pool = open(t, service.port, { pipelining: 3 });
  const pieces: (readonly string[])[] = [];
  service.handle = (socket, text) => {
    pieces.push(targets(text));
    answerAll(socket, text);
  };
  await ended(send(pool, get('/first')));
  const paths = ['/1', '/2', '/3', '/4'];
  t.strictSame(await ended(...paths.map((path) => send(pool, get(path)))), good(...paths));
  t.strictSame(pieces.slice(0, 2), [['/first'], ['/1', '/2', '/3']]);
});

t.test('what changes something, or has a body, goes by itself', async (t) => {
  const service = await listen(t);
  const pool = open(t, service.port, { pipelining: 8 });
  const pieces: (readonly string[])[] = [];
  service.handle = (socket, text) => {
    pieces.push(targets(text));
    answerAll(socket, text);
  };
  await ended(send(pool), send(pool));
  pieces.length = 0;
  const all = [get('/1'), { ...get('/2'), method: 'POST' }, { ...get('/3'), body: Buffer.from('{}') }, get('/4')];
  t.strictSame(await ended(...all.map((request) => send(pool, request))), good('/1', '/2', '/3', '/4'));
  t.ok(
    pieces.every(({ length }) => length === 1),
    JSON.stringify(pieces),
  );
});

t.test('none waits behind a slow one', async (t) => {
  const service = await listen(t);
  const pool = open(t, service.port, { connections: 4, pipelining: 4 });
  await ended(send(pool));
  service.handle = (socket, text) => {
    for (const target of targets(text)) {
      if (target === '/slow') return;
      socket.write(answer(target));
    }
  };
  const slow = send(pool, get('/slow'));
  const others = ['/1', '/2', '/3'].map((path) => send(pool, get(path)));
  t.strictSame(await ended(...others), good('/1', '/2', '/3'));
  t.equal(slow.end, null);
  service.sockets[0]!.write(answer('/slow'));
  t.strictSame(await ended(slow), good('/slow'), 'and the slow one keeps its connection');
});

t.test('none waits behind one whose answer nobody takes', async (t) => {
  const service = await listen(t);
  const pool = open(t, service.port, { connections: 4, pipelining: 4 });
  await ended(send(pool));
  service.handle = answerAll;
  const held = send(pool, get('/held'), (controller) => controller.pause());
  const others = ['/1', '/2', '/3'].map((path) => send(pool, get(path)));
  t.strictSame(await ended(held, ...others), good('/held', '/1', '/2', '/3'));
  t.equal(service.sockets.length > 1, true);
});

t.test('one that is given up takes no other with it', async (t) => {
  const service = await listen(t);
  for (const place of [0, 1, 3]) {
    const pool = open(t, service.port, { connections: 4, pipelining: 4 });
    await ended(send(pool));
    const [all, count]: [Sent[], number] = [[], targets(service.received).length];
    service.handle = (socket, text) => {
      if (all[place]!.started && targets(service.received).length >= count + 4) all[place]!.controller.abort();
      answerAll(socket, text);
    };
    all.push(...['/0', '/1', '/2', '/3'].map((path) => send(pool, get(path))));
    const others = all.filter((_, index) => index !== place);
    await ended(...others);
    t.ok(
      others.every(({ end, body }) => end === 'ended' && /^\/\d$/.test(body)),
      `the one at ${place}`,
    );
    t.equal(all[place]!.end, null);
  }
});

t.test('a server that ends the connection after an answer gets the others once more, each by itself', async (t) => {
  const service = await listen(t);
  const endings: Readonly<Record<string, (socket: Socket, target: string) => void>> = {
    'it says so': (socket, target) => void socket.end(answer(target, 'Connection: close\r\n')),
    'it says more than was asked': (socket, target) =>
      void socket.write(`${answer(target, 'Connection: close\r\n')}HTTP/1.1 200 OK\r\n\r\nevil`),
  };
  for (const [name, end] of Object.entries(endings)) {
    const pool = open(t, service.port, { pipelining: 8 });
    service.handle = (socket, text) => void socket.write(answer(targets(text)[0]!));
    await ended(send(pool));
    service.received = '';
    service.handle = (socket, text) => end(socket, targets(text)[0]!);
    const paths = ['/1', '/2', '/3', '/4', '/5'];
    t.strictSame(await ended(...paths.map((path) => send(pool, get(path)))), good(...paths), name);
    t.equal(targets(service.received).length, 9, 'five at first, then four');
  }
});

t.test('a connection that breaks between two answers fails nobody', async (t) => {
  const service = await listen(t);
  const pool = open(t, service.port, { pipelining: 8 });
  await ended(send(pool));
  service.handle = (socket, text) => {
    service.handle = answerAll;
    socket.end(answer(targets(text)[0]!));
  };
  const paths = ['/1', '/2', '/3'];
  t.strictSame(await ended(...paths.map((path) => send(pool, get(path)))), good(...paths));
});

t.test('a connection that breaks before any answer fails its first request alone', async (t) => {
  const service = await listen(t);
  const pool = open(t, service.port, { pipelining: 8 });
  await ended(send(pool));
  service.handle = (socket) => {
    service.handle = answerAll;
    socket.resetAndDestroy();
  };
  const first = send(pool, get('/1'));
  const others = ['/2', '/3'].map((path) => send(pool, get(path)));
  t.strictSame(await ended(first, ...others), [['failed', 0, ''], ...good('/2', '/3')]);
});

t.test('destroyed, all it carries end', async (t) => {
  const service = await listen(t);
  const pool = open(t, service.port, { pipelining: 8 });
  await ended(send(pool));
  service.handle = () => undefined;
  const all = ['/1', '/2', '/3'].map((path) => send(pool, get(path)));
  await until('they are there', () => targets(service.received).length >= 3);
  pool.destroy();
  t.strictSame(await ended(...all), Array(3).fill(['failed', 0, '']));
});

const seed = Number(process.env['PETGATE_TEST_SEED'] ?? Math.floor(Math.random() * 1e9));

t.test(`whatever the server does, nobody gets another's answer (PETGATE_TEST_SEED=${seed})`, async (t) => {
  const random = randomOf(seed);
  const service = await listen(t);
  const pool = open(t, service.port, { connections: 3, pipelining: 6 });
  service.handle = (socket, text) => {
    let bytes = '';
    for (const target of targets(text)) {
      if (random() < 0.03) {
        socket.write(bytes);
        socket.destroy();
        return;
      }
      const closes = random() < 0.05;
      bytes +=
        random() < 0.5
          ? answer(target, closes ? 'Connection: close\r\n' : '')
          : `HTTP/1.1 200 OK\r\n${closes ? 'Connection: close\r\n' : ''}Transfer-Encoding: chunked\r\n\r\n1\r\n/\r\n${(target.length - 1).toString(16)}\r\n${target.slice(1)}\r\n0\r\n\r\n`;
    }
    while (bytes !== '') {
      const cut = 1 + Math.floor(random() * bytes.length);
      const piece = bytes.slice(0, cut);
      bytes = bytes.slice(cut);
      socket.write(piece);
    }
  };
  let answered = 0;
  for (let turn = 0; turn < 120; turn += 1) {
    const all = Array.from({ length: 1 + Math.floor(random() * 12) }, (_, n) => `/${turn}-${n}`);
    const sent = all.map((path) => send(pool, get(path)));
    await ended(...sent);
    for (const [n, { end, body }] of sent.entries()) {
      if (end === 'ended') answered += 1;
      if (end === 'ended' && body !== all[n]) t.fail('an answer of another', { body, asked: all[n] });
    }
  }
  t.ok(answered > 400, `${answered} answers`);
});
