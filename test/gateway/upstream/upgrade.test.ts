import t from 'tap';
import { WebSocket } from 'undici';
import { checkHonest } from '../../answers/honest.js';
import { until } from '../../servers/until.js';
import { startTunnelFront } from '../../servers/tunnel-front.js';
import { acceptOf, startWebSocketUpstream } from '../../servers/websocket.js';
import { KEY } from '../../servers/tunnel.js';

t.test('a real WebSocket client and a real service talk through the gateway', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const front = await startTunnelFront(t, { addresses: [upstream.url] });
  const socket = new WebSocket(`ws://127.0.0.1:${front.port}/v1/pets/watch?since=7`, { headers: { authorization: front.key.slice('Authorization: '.length) }, protocols: ['pets'] });
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
  t.equal(upstream.seen[0]?.url, '/v1/pets/watch?since=7');
});

t.test('the 101 carries the figures and costs one token', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const front = await startTunnelFront(t, { addresses: [upstream.url] });
  const first = await front.open(front.key);
  t.equal(first.answer.status, 101);
  checkHonest(t, first.answer, '101');
  t.equal(first.answer.headers.get('sec-websocket-accept'), acceptOf(KEY));
  t.equal(first.answer.headers.get('connection'), 'Upgrade');
  t.equal(first.answer.headers.get('upgrade'), 'websocket');
  t.equal(first.answer.headers.get('x-ratelimit-remaining'), '999999');
  t.equal((await front.open(front.key)).answer.headers.get('x-ratelimit-remaining'), '999998');
});
