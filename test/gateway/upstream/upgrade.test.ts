import { join } from 'node:path';
import t from 'tap';
import { codeOf } from '../../answers/honest.js';
import { WebSocket } from 'undici';
import { checkHonest } from '../../answers/honest.js';
import { scrape } from '../../servers/exposition.js';
import { fullPort } from '../../servers/full-port.js';
import { INTERNAL_TOKEN } from '../../servers/gateway.js';
import { temporaryFolder } from '../../servers/program.js';
import { handshake, KEY, openTunnel } from '../../servers/tunnel.js';
import { startTunnelFront } from '../../servers/tunnel-front.js';
import { until } from '../../servers/until.js';
import { accept, acceptOf, startWebSocketUpstream, type SeenHandshake } from '../../servers/websocket.js';

/** For handshakes that need no settings, one after the other. */
const upstream = await startWebSocketUpstream(t);
const front = await startTunnelFront(t, { addresses: [upstream.url] });

t.test('a real WebSocket client and a real service talk through the gateway', async (t) => {
  const socket = new WebSocket(`ws://127.0.0.1:${front.port}/v1/pets/watch?since=7`, {
    headers: { authorization: front.key.slice('Authorization: '.length) },
    protocols: ['pets'],
  });
  const messages: unknown[] = [];
  let closed: number | null = null;
  socket.addEventListener('message', ({ data }) => messages.push(data));
  socket.addEventListener('close', ({ code }) => (closed = code));
  socket.addEventListener('open', () => {
    socket.send('woof');
    socket.send('x'.repeat(60_000));
  });
  await until('both came back', () => messages.length === 2);
  t.equal(messages[0], 'woof');
  t.equal(messages[1], 'x'.repeat(60_000));
  socket.close(1000);
  await until('it is closed', () => closed !== null);
  t.equal(closed, 1000, 'in order');
  await until('both sides are closed', () => upstream.sockets.size === 0);
  t.equal(upstream.seen.at(-1)?.url, '/v1/pets/watch?since=7');
});

t.test('the 101 carries the figures and costs one token', async (t) => {
  const { key } = await front.gateway.createKey({ plan: 'free' });
  const bearer = `Authorization: Bearer ${key}`;
  const first = await front.open(bearer);
  t.equal(first.answer.status, 101);
  checkHonest(t, first.answer, '101');
  t.equal(first.answer.headers.get('sec-websocket-accept'), acceptOf(KEY));
  t.equal(first.answer.headers.get('connection'), 'Upgrade');
  t.equal(first.answer.headers.get('upgrade'), 'websocket');
  t.equal(first.answer.headers.get('x-ratelimit-remaining'), '999999');
  t.equal((await front.open(bearer)).answer.headers.get('x-ratelimit-remaining'), '999998');
});

/** Values of a field as they came, by lower-case name. */
function valuesOf({ rawHeaders }: SeenHandshake, name: string): string[] {
  return rawHeaders.filter((_value, index) => index % 2 === 1 && rawHeaders[index - 1]!.toLowerCase() === name);
}

t.test(
  'the service hears who asks by the word of the gateway alone, and nothing of the client that is not for it',
  async (t) => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    await openTunnel(
      t,
      front.port,
      handshake(
        "/v1/pets/watch?a='b'&c=%2f//d=http:/x",
        front.key,
        'X-Petgate-Plan: business',
        'X_Petgate_Key_Id: x',
        'X-Forwarded-For: 1.2.3.4',
        'X-Real-IP: 1.2.3.4',
        'Keep-Alive: x',
        'TE: trailers',
        'Proxy-Authorization: x',
        'X-Request-Id: mine',
        `traceparent: 00-${trace}-00f067aa0ba902b7-01`,
        'Sec-WebSocket-Extensions: permessage-deflate',
        'Cookie: a=1',
        'X-Twice: 1',
        'X-Twice: 2',
      )
        .replace('Connection: Upgrade', 'Connection: Upgrade, X-Secret')
        .replace('Upgrade: websocket', 'Upgrade: websocket\r\nX-Secret: hop'),
    );
    const seen = upstream.seen.at(-1);
    t.equal(seen?.url, "/v1/pets/watch?a='b'&c=%2f//d=http:/x", 'the target as it was routed');
    const values = (name: string): string[] => valuesOf(seen!, name);
    t.same(values('authorization'), [`Bearer ${INTERNAL_TOKEN}`]);
    t.same(values('x-petgate-plan'), ['free']);
    t.same(values('x-petgate-key-id'), [front.keyId]);
    t.same(values('x-forwarded-for'), ['127.0.0.1']);
    t.same(values('x-request-id'), ['mine']);
    t.match(values('traceparent'), [new RegExp(`^00-${trace}-(?!00f067aa0ba902b7)[0-9a-f]{16}-01$`)]);
    t.same(values('connection'), ['Upgrade']);
    t.same(values('upgrade'), ['websocket']);
    t.same(values('host'), [new URL(upstream.url).host]);
    t.same(values('sec-websocket-extensions'), ['permessage-deflate']);
    t.same(values('cookie'), ['a=1']);
    t.same(values('x-twice'), ['1', '2']);
    for (const name of ['x_petgate_key_id', 'x-real-ip', 'keep-alive', 'te', 'proxy-authorization', 'x-secret'])
      t.same(values(name), [], name);
  },
);

t.test(
  'a service that answers no handshake is passed over like one that answers no request, and tried again',
  async (t) => {
    const upstream = await startWebSocketUpstream(t);
    const front = await startTunnelFront(t, {
      addresses: [upstream.url],
      pets: { deadline: '200ms', breaker: { failures: 2, open: '500ms', cap: '500ms' } },
    });
    upstream.handle = () => undefined;
    t.equal((await front.open(front.key)).answer.status, 504);
    t.equal((await front.open(front.key)).answer.status, 504);
    const { answer } = await front.open(front.key);
    t.equal(answer.status, 503);
    checkHonest(t, answer, 'open');
    t.equal(upstream.seen.length, 2, 'it heard nothing of the third');
    upstream.handle = (seen) => accept(seen);
    await until('a tunnel is there again', async () => (await front.open(front.key)).answer.status === 101);
    t.equal((await front.open(front.key)).answer.status, 101, 'and not as a trial');
  },
);

t.test('of the fields of a 101 the client hears those that are for it, and the figures of the gateway', async (t) => {
  upstream.handle = (seen) => {
    accept(
      seen,
      'X-RateLimit-Limit: 1',
      'RateLimit: x',
      'Server: x',
      'X-Petgate-Key-Id: x',
      'Content-Length: 5',
      'Set-Cookie: a=1',
      'Set-Cookie: b=2',
      'X-Name: caf\u00e9',
    );
    seen.socket.write('first');
  };
  const client = await front.open(front.key);
  const { headers } = client.answer;
  checkHonest(t, client.answer, '101');
  t.equal(headers.get('x-ratelimit-limit'), '1000000');
  t.equal(headers.get('set-cookie'), 'a=1, b=2');
  t.equal(Buffer.from(headers.get('x-name') ?? '', 'latin1').toString(), 'caf\u00e9', 'byte by byte');
  for (const name of ['server', 'x-petgate-key-id', 'content-length', 'transfer-encoding'])
    t.notOk(headers.has(name), name);
  await until('what came with the 101 is there', () => client.received().toString() === 'first');
});

t.test('a handshake that is answered otherwise gets that answer, streamed and with the figures', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const front = await startTunnelFront(t, { addresses: [upstream.url] });
  upstream.handle = ({ socket }) =>
    void socket.end(
      `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3000000\r\n\r\n${'x'.repeat(3_000_000)}`,
    );
  const { answer, closed } = await front.open(front.key);
  t.equal(answer.status, 200);
  t.equal(answer.body.length, 3_000_000);
  t.equal(answer.headers.get('x-ratelimit-limit'), '1000000');
  await until('closed', closed);
  upstream.handle = ({ socket }) =>
    void socket.end(
      `HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 3000000\r\n\r\n${'x'.repeat(3_000_000)}`,
    );
  const page = (await front.open(front.key)).answer;
  t.same([page.status, codeOf(page)], [404, 'upstream_error'], 'a page is no error for a client');
  upstream.handle = ({ socket }) => void socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 300\r\n\r\nhalf of it');
  t.equal((await front.open(front.key)).answer.status, 502, 'one that breaks off is none');
  await until('no connection is left', () => upstream.sockets.size === 0);
  t.same(
    front.gateway.program.lines().filter(({ level }) => level === 'error'),
    [],
  );
});

t.test('a service on a Unix socket has tunnels too', async (t) => {
  const upstream = await startWebSocketUpstream(t, join(temporaryFolder(t), 'pets.sock'));
  const front = await startTunnelFront(t, { addresses: [upstream.url] });
  const client = await front.open(front.key);
  t.equal(client.answer.status, 101);
  client.socket.write(Buffer.from([0x82, 0x81, 0, 0, 0, 0, 7]));
  await until('the echo came', () => client.received().equals(Buffer.from([0x82, 1, 7])));
});

t.test('tunnels spread over the addresses there are, and pass over one that is unavailable', async (t) => {
  const [one, other] = [await startWebSocketUpstream(t), await startWebSocketUpstream(t)];
  const front = await startTunnelFront(t, { addresses: [one.url, 'http://127.0.0.1:1', other.url] });
  for (let index = 0; index < 20; index += 1) t.equal((await front.open(front.key)).answer.status, 101);
  t.same([one.seen.length, other.seen.length], [10, 10]);
  for (const { socket } of one.seen) socket.destroy();
  await until(
    'its tunnels are gone',
    async () => (await scrape(front.gateway.adminUrl)).value('petgate_tunnels') === 10,
  );
  for (let index = 0; index < 10; index += 1) await front.open(front.key);
  t.same([one.seen.length, other.seen.length], [20, 10], 'the one with fewer is next');
});

t.test('an address that takes no connection is given up in time', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const front = await startTunnelFront(t, {
    addresses: [`http://127.0.0.1:${await fullPort(t)}`, upstream.url],
    pets: { connect: '200ms' },
  });
  const startMs = performance.now();
  t.equal((await front.open(front.key)).answer.status, 101);
  const tookMs = performance.now() - startMs;
  t.ok(tookMs >= 190 && tookMs < 9000, `after ${tookMs.toFixed(0)} ms`);
  t.equal((await scrape(front.gateway.adminUrl)).value('petgate_upstream_failures_total', { kind: 'unreachable' }), 1);
});
