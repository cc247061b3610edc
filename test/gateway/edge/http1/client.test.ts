import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import type { Test } from 'tap';
import { loadSettings } from '../../../../src/gateway/config/load.js';
import { HttpClient } from '../../../../src/gateway/edge/http1/client.js';
import { trackConnection } from '../../../../src/gateway/edge/http1/connection.js';
import { Traffic } from '../../../../src/gateway/edge/traffic.js';
import { listen } from '../../../servers/listen.js';

const BYTES = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

interface Sent {
  /** What a server wrote until it closed the connection, as latin1. */
  readonly text: string;
  /** How many times it wrote, and how many of these were vectors of several pieces. */
  readonly writes: number;
  readonly vectors: number;
}

/** How one answer goes out to a request. */
async function send(t: Test, requestLine: string, status: number, body: Buffer | string): Promise<Sent> {
  let writes = 0;
  let vectors = 0;
  const traffic = new Traffic();
  const { limits } = loadSettings({});
  const server = createServer((request, response) => {
    const client = new HttpClient(request, response, false, traffic, limits);
    client.send(status, ['X-Request-Id', 'one', 'Content-Length', String(Buffer.byteLength(body))], body);
    t.equal(client.bytesOut, Buffer.byteLength(body));
  });
  server.on('connection', (socket: Socket) => {
    trackConnection(socket, traffic, limits);
    const write = socket._write.bind(socket);
    const writev = socket._writev!.bind(socket);
    socket._write = (...args) => {
      writes += 1;
      write(...args);
    };
    socket._writev = (...args) => {
      writes += 1;
      vectors += 1;
      writev(...args);
    };
  });
  const socket = connect((await listen(t, server)).port, '127.0.0.1');
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  socket.write(`${requestLine}\r\nHost: pets.example\r\nConnection: close\r\n\r\n`);
  await once(socket, 'close');
  return { text, writes, vectors };
}

t.test('an answer with a small body is one write', async (t) => {
  for (const [name, requestLine, status, body, expected] of [
    ['bytes', 'GET / HTTP/1.1', 200, BYTES, BYTES.toString('latin1')],
    [
      'text',
      'GET / HTTP/1.1',
      429,
      '{"message":"caf\u00e9 \u2603"}',
      Buffer.from('{"message":"caf\u00e9 \u2603"}').toString('latin1'),
    ],
    ['HTTP/1.0', 'GET / HTTP/1.0', 200, BYTES, BYTES.toString('latin1')],
    ['nothing', 'GET / HTTP/1.1', 200, '', ''],
    ['HEAD', 'HEAD / HTTP/1.1', 200, BYTES, ''],
    ['HEAD, text', 'HEAD / HTTP/1.1', 429, '{}', ''],
    ['304', 'GET / HTTP/1.1', 304, '', ''],
  ] as const) {
    const { text, writes, vectors } = await send(t, requestLine, status, body);
    t.match(text, new RegExp(`^HTTP/1\\.1 ${status} `), name);
    t.match(text, new RegExp(`\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`), `${name}: its length is told`);
    t.equal(text.slice(text.indexOf('\r\n\r\n') + 4), expected, `${name}: its body`);
    t.strictSame([writes, vectors], [1, 0], `${name}: one write, of one piece`);
  }
});

t.test('a large body is not copied beside its header', async (t) => {
  const { text, vectors } = await send(t, 'GET / HTTP/1.1', 200, Buffer.alloc(100_000, 'x'));
  t.equal(text.slice(text.indexOf('\r\n\r\n') + 4), 'x'.repeat(100_000));
  t.equal(vectors, 1, 'both in one write');
});

t.test('a chunk is given back once it is written and not before; never when its client leaves', async (t) => {
  const limits = loadSettings({}).limits;
  for (const leaves of [false, true]) {
    const server = createServer();
    server.on('connection', (socket: Socket) => trackConnection(socket, new Traffic(), limits));
    const socket = connect((await listen(t, server)).port, '127.0.0.1');
    t.teardown(() => socket.destroy());
    socket.write('GET / HTTP/1.1\r\nHost: pets.example\r\n\r\n');
    const [request, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
    const client = new HttpClient(request, response, false, new Traffic(), limits);
    const given: Buffer[] = [];
    const written: Buffer[] = [];
    const write = (): void => {
      written.push(Buffer.alloc(65_536, written.length));
      client.write(written.at(-1)!, { release: (chunk) => given.push(chunk) });
    };
    client.start(200, ['Content-Length', String(2 ** 30)]);
    // Until the system takes no more: nobody reads.
    do {
      write();
      await nextTurn();
    } while (response.writableLength === 0);
    t.ok(response.writableLength > 0 && given.length < written.length, 'what waits is not given back');
    const before = given.length;
    if (leaves) {
      socket.destroy();
      await once(response, 'close');
      await nextTurn();
      t.equal(given.length, before, 'nor what nobody takes any more');
    } else {
      const drained = once(request.socket, 'drain');
      socket.resume();
      await drained;
      t.strictSame(given, written, 'all of it, once it is taken');
    }
  }
});
