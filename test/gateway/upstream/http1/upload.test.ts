import { PassThrough } from 'node:stream';
import t from 'tap';
import { ArrivingRest } from '../../../../src/gateway/edge/body/rest.js';
import type { Body } from '../../../../src/gateway/exchange.js';
import { until } from '../../../servers/until.js';
import { ended, GET, listen, OK, open, send } from './service.js';

/** A body of which `beginning` came; what follows is written into its source. */
function long(beginning: string, length: number | null): { source: PassThrough; body: Body } {
  const source = new PassThrough();
  const terms = { length, maxBytes: 1e9, idleMs: 60_000, isWhole: () => true };
  const bytes = Buffer.from(beginning);
  return { source, body: { bytes, rest: new ArrivingRest(source, bytes.length, terms) } };
}

/** Whether all that the service got is `text` behind the head. */
const bodyOf = (received: string): string => received.slice(received.indexOf('\r\n\r\n') + 4);

t.test('it goes to its length, or in chunks of our own, and its connection serves again', async (t) => {
  const service = await listen(t);
  service.handle = (socket, text) => {
    if (text.endsWith('.') || text.endsWith('0\r\n\r\n')) socket.write(OK);
  };
  const pool = open(t, service.port, { connections: 1 });
  for (const [length, framing, expected] of [
    [9, 'Content-Length: 9', 'beginend.'],
    [null, 'Transfer-Encoding: chunked', '9\r\nbeginend.\r\n0\r\n\r\n'],
  ] as const) {
    service.received = '';
    const { source, body } = long('begin', length);
    const sent = send(pool, { ...GET, method: 'POST', body });
    source.write('en');
    source.end('d.');
    t.match(await ended(sent), [['ended', 200, '[]']]);
    t.match(service.received, `\r\n${framing}\r\n\r\n`);
    t.equal(bodyOf(service.received).replace(/\r\n(?=\d\r\n)(?!0)/g, ''), expected);
  }
  t.equal(service.sockets.length, 1);
});

t.test('a thousand bytes in pieces of one are few chunks', async (t) => {
  const service = await listen(t);
  service.handle = (socket, text) => {
    if (text.endsWith('\r\n0\r\n\r\n')) socket.write(OK);
  };
  const pool = open(t, service.port, { connections: 1 });
  const { source, body } = long('', null);
  const sent = send(pool, { ...GET, method: 'POST', body });
  for (let n = 0; n < 1000; n += 1) source.write('x');
  source.end();
  await ended(sent);
  const chunks = bodyOf(service.received)
    .split('\r\n')
    .filter((line) => /^[\da-f]+$/.test(line));
  t.ok(chunks.length < 20, `${chunks.length} chunks`);
  t.equal(bodyOf(service.received).split('x').length - 1, 1000);
});

t.test(
  'a length that its body does not keep ends the connection, and nothing passes for another request',
  async (t) => {
    const service = await listen(t);
    service.handle = () => undefined;
    for (const more of ['GET /hidden HTTP/1.1\r\n\r\n', 'x']) {
      service.received = '';
      const pool = open(t, service.port, { connections: 1 });
      const { source, body } = long('begin', 10);
      const sent = send(pool, { ...GET, method: 'POST', body });
      source.end(more);
      t.match(await ended(sent), [['failed']]);
      await until('it is closed', () => service.sockets.every(({ destroyed }) => destroyed));
      t.notMatch(service.received, 'hidden');
    }
  },
);

t.test('an answer before its end is the end: the rest is not read, and the connection not used again', async (t) => {
  const service = await listen(t);
  const pool = open(t, service.port, { connections: 1 });
  const { source, body } = long('begin', null);
  await ended(send(pool, { ...GET, method: 'POST', body }));
  t.equal(body.rest!.isOver, true);
  source.write(Buffer.alloc(100_000));
  await until('it is closed', () => service.sockets.every(({ destroyed }) => destroyed));
  t.notMatch(bodyOf(service.received), '0\r\n\r\n');
  await ended(send(pool, GET));
  t.equal(service.sockets.length, 2);
});

t.test('who refuses gets no more of it, whenever its answer ends', async (t) => {
  const service = await listen(t);
  service.handle = (socket, text) => {
    if (text.startsWith('POST')) socket.write('HTTP/1.1 413 No\r\nContent-Length: 2\r\n\r\n[');
  };
  const pool = open(t, service.port, { connections: 1 });
  const { body } = long('begin', 1e6);
  const sent = send(pool, { ...GET, method: 'POST', body });
  await until('it is over', () => body.rest!.isOver);
  service.sockets[0]!.write(']');
  t.match(await ended(sent), [['ended', 413, '[]']]);
});

t.test('given up, or left by its server: the body is read no further', async (t) => {
  const service = await listen(t);
  service.handle = () => undefined;
  const pool = open(t, service.port, { connections: 1 });
  const first = long('begin', null);
  const given = send(pool, { ...GET, method: 'POST', body: first.body });
  await until('it began', () => service.received.includes('begin'));
  given.controller.abort();
  t.equal(first.body.rest!.isOver, true);
  service.received = '';
  const second = long('begin', null);
  const left = send(pool, { ...GET, method: 'POST', body: second.body });
  await until('it began on another', () => service.received.includes('begin'));
  service.sockets.at(-1)!.destroy();
  t.match(await ended(left), [['failed']]);
  t.equal(second.body.rest!.isOver, true);
});
