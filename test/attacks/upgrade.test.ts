import { connect } from 'node:net';
import t from 'tap';
import type { Test } from 'tap';
import { checkHonest, codeOf } from '../answers/honest.js';
import { exchangeRaw, parseAnswers, type RawAnswer, statusesOf } from '../servers/raw.js';
import { handshake, openTunnel } from '../servers/tunnel.js';
import { startTunnelFront } from '../servers/tunnel-front.js';
import { until } from '../servers/until.js';
import { accept, startWebSocketUpstream } from '../servers/websocket.js';
import { metricOf, request } from './front.js';

const upstream = await startWebSocketUpstream(t);
const front = await startTunnelFront(t, {
  addresses: [upstream.url],
  config: { limits: { caller_share: 1, headers_time: '1s', request_time: '1s' } },
});
/** The request nobody sent: it must never be seen behind, nor be answered. */
const hidden = request('GET /v1/pets?hidden', front.key);

/** What to send, or what to wait for before the next is sent. */
type Piece = string | (() => Promise<void>);

/** All that is answered to these pieces, until the connection is silent for half a second after the first of it. */
function answersTo(...pieces: readonly Piece[]): Promise<readonly RawAnswer[]> {
  return new Promise((resolve) => {
    const socket = connect(front.port, '127.0.0.1');
    let text = '';
    socket.setNoDelay(true);
    socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    socket.once('data', () => socket.setTimeout(500));
    socket.on('error', () => undefined).on('close', () => resolve(parseAnswers(text)));
    socket.setTimeout(30_000, () => socket.destroy());
    void (async () => {
      for (const piece of pieces) {
        if (typeof piece !== 'string') await piece();
        // A piece of its own for the gateway too, unless that is busy.
        else if (!socket.destroyed)
          await new Promise<void>((written) => socket.write(piece, 'latin1', () => setTimeout(written, 50)));
      }
    })();
  });
}

async function expectPlain(
  t: Test,
  name: string,
  pieces: readonly string[],
  statuses: readonly number[],
  behind: readonly string[],
): Promise<void> {
  upstream.seen.length = 0;
  upstream.plain.length = 0;
  const answers = await answersTo(...pieces);
  t.same(statusesOf(answers), statuses, `${name}: answered ${statuses.join()}`);
  for (const answer of answers) checkHonest(t, answer, name);
  t.same(upstream.plain, behind, `${name}: behind, exactly ${behind.length}`);
  t.same(upstream.seen, [], `${name}: no handshake behind`);
}

/** The attack: an Upgrade to something else, so that what follows is read by nobody's rules (h2c smuggling). */
t.test('every Upgrade but to a WebSocket is ignored, and its field goes no further', async (t) => {
  for (const [name, fields] of Object.entries({
    h2c: ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'],
    'TLS/1.0': ['Connection: Upgrade', 'Upgrade: TLS/1.0'],
    'a list': ['Connection: Upgrade', 'Upgrade: websocket, h2c'],
    'two fields': ['Connection: Upgrade', 'Upgrade: websocket', 'Upgrade: h2c'],
    'the same twice': ['Connection: Upgrade', 'Upgrade: websocket', 'Upgrade: websocket'],
    'a version of it': ['Connection: Upgrade', 'Upgrade: websocket/13'],
    nothing: ['Connection: Upgrade', 'Upgrade:'],
    'not named by Connection': ['Connection: keep-alive', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
  }))
    await expectPlain(t, name, [request('GET /v1/pets/watch', front.key, ...fields)], [426], ['GET /v1/pets/watch']);
  const [answer] = await exchangeRaw(front.port, handshake('/v1/pets', front.key), 1);
  t.equal(answer?.status, 426, 'nor does an operation without WebSocket take one');
  const spelled = handshake('/v1/pets/watch', front.key)
    .replace('Upgrade: websocket', 'upgrade: WebSocket')
    .replace('Connection: Upgrade', 'connection: keep-alive, UPGRADE');
  t.equal((await openTunnel(t, front.port, spelled)).answer.status, 101, 'while any spelling of the right one does');
});

/** The attack: a second request where the parser stopped reading. */
t.test('nothing behind an ignored Upgrade is ever read as a request', async (t) => {
  const ignored = request('GET /v1/pets', front.key, 'Connection: Upgrade', 'Upgrade: h2c');
  const behind = ['GET /v1/pets'];
  await expectPlain(t, 'in one piece', [ignored + hidden], [426], behind);
  const body = 'x'.repeat(20) + hidden;
  const post = request('POST /v1/pets', front.key, `Content-Length: ${body.length}`);
  const cut = [ignored + post + 'x'.repeat(20), hidden];
  await expectPlain(t, 'a request cut where its body looks like another', cut, [426], behind);
  const [answer] = await answersTo(ignored + hidden);
  t.equal(answer?.headers.get('connection'), 'close', 'the client is told that nothing else is read');
});

/** The attack: an Upgrade on a request whose body would be taken for the tunnel, or for a request. */
t.test('an Upgrade with a body, on another method, or on HTTP/1.0 is a plain request', async (t) => {
  const fields = [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ];
  const watch = (...more: readonly string[]): string => request('GET /v1/pets/watch', front.key, ...fields, ...more);
  const chunked = 'Transfer-Encoding: chunked';
  const post = (path: string): string => `${request(`POST ${path}`, front.key, ...fields, 'Content-Length: 2')}{}`;
  for (const [name, bytes, status, behind] of [
    ['a body by length', watch(`Content-Length: ${hidden.length}`) + hidden, 400, []],
    ['a body in chunks', `${watch(chunked)}${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`, 400, []],
    ['both framings', `${watch('Content-Length: 5', chunked)}0\r\n\r\n${hidden}`, 400, []],
    ['POST', post('/v1/pets'), 426, ['POST /v1/pets']],
    ['POST where only GET is', post('/v1/pets/watch'), 405, []],
    ['HEAD', watch().replace('GET', 'HEAD'), 426, ['HEAD /v1/pets/watch']],
    ['HTTP/1.0', watch().replace('HTTP/1.1', 'HTTP/1.0'), 426, ['GET /v1/pets/watch']],
    ['with Expect', watch('Expect: 100-continue'), 426, ['GET /v1/pets/watch']],
  ] as const)
    await expectPlain(t, name, [bytes], [status], behind);
  const empty = await front.open(front.key, 'Content-Length: 0');
  t.equal(empty.answer.status, 101, 'a body of nothing is none');
  empty.socket.destroy();
});

/**
 * The attack: requests behind a handshake that will be refused, for whoever takes the connection for a tunnel already.
 */
t.test('bytes before the answer end the handshake, and reach nobody', async (t) => {
  let asked = 0;
  upstream.handle = () => (asked += 1);
  const good = handshake('/v1/pets/watch', front.key);
  const inOne = await answersTo(good + hidden);
  t.same(statusesOf(inOne), [400], 'in one piece: refused');
  t.equal(asked, 0, 'before anything went behind');
  const later = await answersTo(good, () => until('it is passed on', () => asked === 1), hidden);
  t.same(statusesOf(later), [400], 'in two pieces: refused');
  for (const answer of [...inOne, ...later]) checkHonest(t, answer, 'early bytes');
  t.equal(asked, 1);
  await until('the service is let go', () => upstream.sockets.size === 0);
  t.notOk(upstream.plain.includes('GET /v1/pets?hidden'));
});

/** The attack: a service that refuses while the client goes on as if it had agreed. */
t.test('a refused handshake leaves no tunnel to smuggle through', async (t) => {
  upstream.plain.length = 0;
  upstream.handle = ({ socket }) =>
    void socket.write(
      'HTTP/1.1 426 Upgrade Required\r\nContent-Length: 2\r\nServer: x\r\nX-RateLimit-Limit: 1\r\n\r\nno',
    );
  const client = await openTunnel(t, front.port, handshake('/v1/pets/watch', front.key));
  t.equal(client.answer.status, 426);
  t.equal(codeOf(client.answer), 'upstream_error');
  t.equal(client.answer.headers.get('server'), undefined);
  t.equal(client.answer.headers.get('connection'), 'close');
  client.socket.write(hidden);
  await until('the connection is closed', client.closed);
  await until('that to the service too', () => upstream.sockets.size === 0);
  t.same(upstream.plain, []);
});

/** The attack: a handshake behind a request that is still being answered. */
t.test('a handshake in the wake of another request is a plain one', async (t) => {
  upstream.handle = (seen) => accept(seen);
  upstream.plain.length = 0;
  upstream.seen.length = 0;
  const answers = await answersTo(request('GET /v1/pets', front.key) + handshake('/v1/pets/watch', front.key) + hidden);
  t.same(statusesOf(answers), [426, 426]);
  t.same(upstream.plain, ['GET /v1/pets', 'GET /v1/pets/watch']);
  t.same(upstream.seen, []);
  const behind = await openTunnel(t, front.port, request('GET /v1/pets', front.key));
  behind.socket.write(handshake('/v1/pets/watch', front.key));
  await until('one after an answer is a handshake', () => behind.received().includes('101 Switching Protocols'));
});

/** The attack: handshakes by the hundred, each left alone in the middle. */
t.test('clients that leave in the middle of a handshake leave nothing behind', async (t) => {
  upstream.seen.length = 0;
  upstream.handle = () => undefined;
  const sockets = Array.from({ length: 100 }, () => connect(front.port, '127.0.0.1').on('error', () => undefined));
  for (const socket of sockets) socket.write(handshake('/v1/pets/watch', front.key));
  await until('all are under way', () => upstream.seen.length === 100);
  sockets.forEach((socket, index) => (index % 2 === 0 ? socket.destroy() : socket.end()));
  await until('the service is let go', () => upstream.sockets.size === 0);
  await until(
    'none is under way',
    async () =>
      (await metricOf(front.gateway, 'petgate_tunnels')) === 0 &&
      (await metricOf(front.gateway, 'petgate_exchanges_in_flight')) === 0,
  );
  t.equal(await metricOf(front.gateway, 'petgate_upstream_in_flight'), 0);
});
