import t from 'tap';
import { until } from '../servers/until.js';
import { AMPLE_PLANS, request, startFront } from './front.js';
import { OK, startRawUpstream } from './raw-upstream.js';

const TOUCHY = { failures: 1, open: '1h', cap: '1h' };
const FIELDS = Array.from({ length: 300 }, (_, index) => `X-${index}: y`).join('\r\n');

/** The attack: one client asks for what makes the service send a response that the gateway must not read. */
t.test('unreadable responses are asked for once, and open no breaker', async (t) => {
  const upstream = await startRawUpstream(t);
  const front = await startFront(t, upstream.url, { pets: { breaker: TOUCHY } });
  for (const [name, head] of Object.entries({
    'a head above 16 KiB': `X-Large: ${'x'.repeat(20_000)}`,
    'more than 256 fields': FIELDS,
    'two equal Content-Lengths': 'Content-Length: 2\r\nContent-Length: 2',
    'a folded line': 'X-Folded: a\r\n b',
    'a line that ends in LF': 'X-Line: a\nContent-Length: 2',
    'Transfer-Encoding with Content-Length': 'Transfer-Encoding: chunked\r\nContent-Length: 2',
  })) {
    upstream.handle = (socket) => void socket.end(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n[]`, 'latin1');
    const before = upstream.heads.length;
    t.equal((await front.send(request('GET /v1/pets', front.key))).status, 502, name);
    t.equal(upstream.heads.length, before + 1, `${name}: sent once`);
    upstream.handle = (socket) => void socket.write(OK);
    t.equal(await front.good(), 200, `${name}: the next request is served`);
  }
});

/** The attack: a key asks for what the service hangs or panics at. Others would be told that the service is down. */
t.test('timeouts and lost connections of one key open the breaker for that key alone', async (t) => {
  const upstream = await startRawUpstream(t);
  const front = await startFront(t, upstream.url, { pets: { breaker: TOUCHY, deadline: '300ms' } });
  const other = `Authorization: Bearer ${(await front.gateway.createKey({ plan: 'free' })).key}`;
  const isBad = (head: string): boolean => head.includes(`x-bad`);
  for (const [name, handle] of Object.entries({
    'closed without a byte': (socket: { destroy(): void }) => socket.destroy(),
    'no response in time': () => undefined,
  })) {
    upstream.handle = (socket, head) => {
      if (isBad(head)) handle(socket);
      else socket.write(OK);
    };
    const bad = await front.send(request('GET /v1/pets', front.key, 'x-bad: 1'));
    t.ok(bad.status >= 502, name);
    t.equal((await front.send(request('GET /v1/pets', front.key))).status, 503, `${name}: that key is kept away`);
    t.equal((await front.send(request('GET /v1/pets', other))).status, 200, `${name}: another is served`);
    t.equal(await front.good(), 200, `${name}: and so is that key again`);
  }
});

t.test('requests that waited for a connection and were never sent are no evidence', async (t) => {
  const upstream = await startRawUpstream(t);
  const front = await startFront(t, upstream.url, { pets: { connections: 1, breaker: TOUCHY, deadline: '2s' } });
  const streams: { destroy(): void }[] = [];
  upstream.handle = (socket) => {
    streams.push(socket);
    socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n');
  };
  const stream = fetch(`${front.gateway.url}/v1/pets`, { headers: { authorization: front.key.slice(15) } });
  t.equal((await stream).status, 200, 'a stream has the only connection');
  t.equal(await front.good(), 504, 'this one waits for it in vain');
  streams[0]!.destroy();
  await (await stream).text().catch(() => undefined);
  upstream.handle = (socket) => void socket.write(OK);
  t.equal(await front.good(), 200);
});

t.test('a trial that becomes a stream closes the breaker with its head', async (t) => {
  const upstream = await startRawUpstream(t);
  const front = await startFront(t, upstream.url, {
    pets: { breaker: { failures: 1, open: '100ms', cap: '100ms' } },
  });
  upstream.handle = (socket) => void socket.destroy();
  t.equal(await front.good(), 503);
  upstream.handle = (socket) =>
    void socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n');
  const authorization = front.key.slice(15);
  const leaving = new AbortController();
  const ask = (): Promise<Response> =>
    fetch(`${front.gateway.url}/v1/pets`, { headers: { authorization }, signal: leaving.signal });
  await until('a trial is sent', async () => (await ask()).status === 200);
  upstream.handle = (socket) => void socket.write(OK);
  for (let n = 0; n < 5; n += 1) t.equal(await front.good(), 200);
  leaving.abort();
});

t.test('event streams of one key leave places for others', async (t) => {
  const upstream = await startRawUpstream(t);
  const front = await startFront(t, upstream.url, { plans: AMPLE_PLANS, pets: { connections: 16 } });
  const other = `Authorization: Bearer ${(await front.gateway.createKey({ plan: 'free' })).key}`;
  const STREAM = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n';
  upstream.handle = (socket, head) => {
    socket.write(head.includes('x-stream') ? STREAM : OK);
  };
  const leaving = new AbortController();
  const headers = { authorization: front.key.slice(15), 'x-stream': '1' };
  const streams = Array.from({ length: 40 }, () =>
    fetch(`${front.gateway.url}/v1/pets`, { headers, signal: leaving.signal }).catch(() => null),
  );
  await until('it has its share', () => upstream.heads.length === 3);
  for (let n = 0; n < 10; n += 1)
    t.equal((await front.send(request('GET /v1/pets', other))).status, 200, 'another key is served');
  t.equal(upstream.heads.filter((head) => head.includes('x-stream')).length, 3, 'a quarter of 12 connections');
  leaving.abort();
  await Promise.all(streams);
});
