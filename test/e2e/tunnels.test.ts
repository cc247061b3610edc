import t from 'tap';
import { checkHonest } from '../answers/honest.js';
import { ownCertificate } from '../servers/certificate.js';
import { startGateway } from '../servers/gateway.js';
import { exchangeRaw } from '../servers/raw.js';
import { redisFor } from '../servers/redis.js';
import { handshake, openTunnel } from '../servers/tunnel.js';
import { startTunnelFront, TUNNEL_PLANS, writeContract } from '../servers/tunnel-front.js';
import { until } from '../servers/until.js';
import { accept, startWebSocketUpstream } from '../servers/websocket.js';

const today = (): string => new Date().toISOString().slice(0, 10);

t.test('of 200 handshakes at once on a plan of ten, exactly ten become tunnels, on two gateways', async (t) => {
  const redis = await redisFor(t);
  const upstream = await startWebSocketUpstream(t);
  const config = { store: { deadline: '10s' } };
  const options = { addresses: [upstream.url], environment: { REDIS_URL: redis.url }, config };
  const front = await startTunnelFront(t, options);
  const second = await startGateway(t, {
    plans: TUNNEL_PLANS,
    environment: options.environment,
    config: { ...config, contract: writeContract(t), upstreams: { pets: { addresses: [upstream.url] } } },
  });
  const keys: string[] = [];
  const from = today();
  for (let round = 0; round < 5; round += 1) {
    const made = await front.gateway.createKey({ plan: 'ten' });
    keys.push(made.id);
    upstream.seen.length = 0;
    const bytes = handshake('/v1/pets/watch', `Authorization: Bearer ${made.key}`);
    const clients = await Promise.all(
      Array.from({ length: 200 }, (_, index) => openTunnel(t, index % 2 === 0 ? front.port : second.port, bytes)),
    );
    const statuses = clients.map(({ answer }) => answer.status);
    t.equal(statuses.filter((status) => status === 101).length, 10, 'ten tunnels');
    t.equal(statuses.filter((status) => status === 429).length, 190, 'and for all others 429');
    t.equal(upstream.seen.length, 10, 'of which the service knows nothing');
    for (const { answer } of clients.slice(0, 30)) checkHonest(t, answer, String(answer.status));
    for (const { socket } of clients) socket.destroy();
    await until('the service is let go', () => upstream.sockets.size === 0);
  }
  const { body } = await front.gateway.admin('GET', `/admin/v1/usage?by=key&format=json&from=${from}&to=${today()}`);
  const { rows } = body as { rows: { key: string; requests: number; limited: number }[] };
  for (const id of keys)
    t.match(
      rows.find(({ key }) => key === id),
      { requests: 10, limited: 190 },
      'and so says the ledger',
    );
});

t.test('requests and tunnels of one key share its plan', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const front = await startTunnelFront(t, { addresses: [upstream.url], config: { workers: 2 } });
  const made = await front.gateway.createKey({ plan: 'ten' });
  const key = `Authorization: Bearer ${made.key}`;
  const plain = `GET /v1/pets HTTP/1.1\r\nHost: x\r\n${key}\r\n\r\n`;
  const statuses = await Promise.all(
    Array.from({ length: 40 }, async (_, index) =>
      index % 2 === 0
        ? (await openTunnel(t, front.port, handshake('/v1/pets/watch', key))).answer.status
        : (await exchangeRaw(front.port, plain, 1))[0]!.status,
    ),
  );
  t.equal(statuses.filter((status) => status === 101 || status === 426).length, 10);
  t.equal(statuses.filter((status) => status === 429).length, 30);
});

t.test('over TLS a tunnel is a tunnel: opened, refused, echoed, drained to the last byte, and let go', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const front = await startTunnelFront(t, {
    addresses: [upstream.url],
    tls: ownCertificate(t),
    config: { shutdown: '700ms' },
  });
  const { target } = front.gateway;
  const releaseRequest = (): Promise<void> => until('the service is let go', () => upstream.sockets.size === 0);
  const client = await front.open(front.key);
  t.equal(client.answer.status, 101);
  checkHonest(t, client.answer, '101');
  client.socket.write(Buffer.from([0x82, 0x81, 0, 0, 0, 0, 7]));
  await until('the echo came', () => client.received().equals(Buffer.from([0x82, 1, 7])));
  client.socket.end();
  await releaseRequest();
  const cut = await front.open(front.key);
  cut.socket.destroy();
  await releaseRequest();
  const refused = await front.open();
  t.equal(refused.answer.status, 401);
  checkHonest(t, refused.answer, '401');
  await until('and closed', refused.closed);
  t.equal((await openTunnel(t, target, `${handshake('/v1/pets/watch', front.key)}early`)).answer.status, 400);
  const [ignored] = await exchangeRaw(target, handshake('/v1/pets', front.key), 1);
  t.same([ignored?.status, upstream.plain], [426, ['GET /v1/pets']], 'an Upgrade elsewhere is ignored');

  upstream.handle = (seen) => {
    accept(seen);
    seen.socket.end(Buffer.alloc(8_000_000));
  };
  const slow = await front.open(front.key);
  slow.socket.on('data', () => {
    slow.socket.pause();
    setTimeout(() => slow.socket.resume(), 1);
  });
  await until('it is closed', slow.closed);
  t.equal(slow.received().length, 8_000_000);
  upstream.handle = (seen) => accept(seen);
  const last = await front.open(front.key);
  await front.gateway.program.stop('SIGTERM');
  t.same(await front.gateway.program.exited, { code: 0, signal: null });
  await until('the last one is let go', last.closed);
});

t.test('one behaviour on every Node: what leaves HTTP, what is ignored, and no warning', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const front = await startTunnelFront(t, { addresses: [upstream.url] });
  const plain = (...fields: readonly string[]): string =>
    ['GET /v1/pets HTTP/1.1', 'Host: x', front.key, ...fields, '', ''].join('\r\n');
  t.equal((await front.open(front.key)).answer.status, 101);
  for (const fields of [
    ['Connection: Upgrade', 'Upgrade: h2c'],
    ['Connection: Upgrade', 'Upgrade: websocket'],
  ]) {
    const [answer] = await exchangeRaw(front.port, plain(...fields), 1);
    t.same([answer?.status, answer?.headers.get('connection')], [426, 'keep-alive'], fields.join());
    const [last] = await exchangeRaw(front.port, plain(...fields) + plain(), 1);
    t.same([last?.status, last?.headers.get('connection')], [426, 'close'], 'with more in the same read');
  }
  t.same(upstream.plain, Array(4).fill('GET /v1/pets'));
  t.equal((await exchangeRaw(front.port, 'CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n', 1))[0]?.status, 400);
  t.notMatch(front.gateway.program.output(), /warning/i);
});
