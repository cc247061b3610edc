import type { Socket } from 'node:net';
import t from 'tap';
import type { Test } from 'tap';
import { checkHonest, codeOf } from '../../../answers/honest.js';
import { scrape } from '../../../servers/exposition.js';
import { exchangeRaw } from '../../../servers/raw.js';
import type { TunnelClient } from '../../../servers/tunnel.js';
import { startTunnelFront, type TunnelFront, type TunnelFrontOptions } from '../../../servers/tunnel-front.js';
import { until } from '../../../servers/until.js';
import { accept, startWebSocketUpstream } from '../../../servers/websocket.js';
import type { SeenHandshake, WebSocketUpstream } from '../../../servers/websocket.js';

interface Stage {
  readonly upstream: WebSocketUpstream;
  readonly front: TunnelFront;
  tunnels(): Promise<number>;
  /** The lines of tunnels that ended, in order. */
  lines(): readonly Readonly<Record<string, unknown>>[];
}

async function stage(
  t: Test,
  limits: Readonly<Record<string, unknown>> = {},
  options: Partial<TunnelFrontOptions> = {},
): Promise<Stage> {
  const upstream = await startWebSocketUpstream(t);
  const front = await startTunnelFront(t, {
    addresses: [upstream.url],
    ...options,
    config: { limits, ...options.config },
  });
  return {
    upstream,
    front,
    tunnels: async () => (await scrape(front.gateway.adminUrl)).value('petgate_tunnels'),
    lines: () => front.gateway.program.lines().filter(({ status, msg }) => msg === 'exchange' && status === 101),
  };
}

async function opened({ front }: Stage): Promise<TunnelClient> {
  const client = await front.open(front.key);
  if (client.answer.status !== 101) throw new Error(`no tunnel: ${client.answer.status} ${client.answer.body}`);
  return client;
}

async function allClosed(t: Test, at: Stage, client: TunnelClient, by: string): Promise<void> {
  await until('the client is let go', client.closed);
  await until('the service is let go', () => at.upstream.sockets.size === 0);
  await until('no tunnel is left', async () => (await at.tunnels()) === 0);
  await until('the log mentions it', () => at.lines().length === at.upstream.seen.length);
  t.equal(at.lines().at(-1)?.['closedBy'], by, `closed by ${by}`);
}

/**
 * For tests of tunnels as they are without settings, one after the other; the later ones handle handshakes in their
 * way.
 */
const usual = await stage(t);

t.test('a tunnel that carries nothing is closed, one that carries something either way is not', async (t) => {
  const at = await stage(t, { tunnel_idle: '600ms' });
  const silent = await opened(at);
  const busy = await opened(at);
  const heard = await opened(at);
  const timer = setInterval(() => {
    busy.socket.write(Buffer.from([0x89, 0x80, 0, 0, 0, 0]));
    at.upstream.seen[2]!.socket.write('x');
  }, 100);
  t.teardown(() => clearInterval(timer));
  await until('the silent one is closed, and logged', () => silent.closed() && at.lines().length > 0);
  t.equal(at.lines()[0]?.['closedBy'], 'idle');
  t.ok(Number(at.lines()[0]?.['ms']) >= 600);
  t.notOk(busy.closed());
  t.notOk(heard.closed());
  clearInterval(timer);
  await until('without traffic they go too', () => busy.closed() && heard.closed());
});

t.test('a tunnel ends at its lifetime, however busy', async (t) => {
  const at = await stage(t, { tunnel_lifetime: '500ms' });
  const client = await opened(at);
  const timer = setInterval(() => at.upstream.seen[0]!.socket.write('x'), 20);
  t.teardown(() => clearInterval(timer));
  await allClosed(t, at, client, 'lifetime');
  const ms = Number(at.lines()[0]?.['ms']);
  t.ok(ms >= 500 && ms < 30_000, `after ${ms} ms`);
});

t.test('when one side goes, in order or not, the other is let go', async (t) => {
  const at = usual;
  for (const [name, leave] of Object.entries<(client: TunnelClient, seen: SeenHandshake) => string>({
    'the client ends': ({ socket }) => (socket.end(), 'client'),
    'the client is reset': ({ socket }) => (socket.resetAndDestroy(), 'client'),
    'the service ends': (_client, { socket }) => (socket.end(), 'upstream'),
    'the service is reset': (_client, { socket }) => (socket.resetAndDestroy(), 'upstream'),
  })) {
    const client = await opened(at);
    const by = leave(client, at.upstream.seen.at(-1)!);
    await t.test(name, (t) => allClosed(t, at, client, by));
  }
});

t.test('a client that reads slowly gets the last byte too', async (t) => {
  const at = usual;
  const sent = 32 * 1024 * 1024;
  at.upstream.handle = (seen) => {
    accept(seen);
    seen.socket.end(Buffer.alloc(sent));
  };
  const client = await opened(at);
  client.socket.on('data', () => {
    client.socket.pause();
    setTimeout(() => client.socket.resume(), 2);
  });
  await until('it is closed', client.closed);
  t.equal(client.received().length, sent);
  await allClosed(t, at, client, 'upstream');
});

t.test('who reads nothing holds up who writes, and not the gateway', async (t) => {
  const at = await stage(t);
  at.upstream.handle = (seen) => accept(seen);
  const sent = 64 * 1024 * 1024;
  const client = await opened(at);
  client.socket.pause();
  const service = at.upstream.seen[0]!.socket;
  service.write(Buffer.alloc(sent));
  let before = -1;
  await until('nothing more goes through', async () => {
    const left = service.writableLength;
    const stuck = left === before;
    before = left;
    await new Promise((resolve) => setTimeout(resolve, 100));
    return stuck;
  });
  t.ok(service.writableLength > 0, 'the service has to wait');
  const { text } = await scrape(at.front.gateway.adminUrl);
  t.ok(
    Number(/^petgate_process_resident_memory_bytes (\d+)/m.exec(text)?.[1]) < 200 * 1024 * 1024,
    'the gateway keeps next to nothing',
  );
  client.socket.resume();
  await until('then all of it comes', () => client.socket.bytesRead > sent);
  client.socket.resetAndDestroy();
  await until('the service is let go', () => at.upstream.sockets.size === 0);
});

/** Until nothing more is taken of what it writes. */
async function fill(writer: Socket): Promise<void> {
  let before = -1;
  await until('nothing more goes through', async () => {
    if (writer.writableLength < 1024 * 1024) writer.write(Buffer.alloc(8 * 1024 * 1024));
    const stuck = writer.writableLength === before;
    before = writer.writableLength;
    await new Promise((resolve) => setTimeout(resolve, 100));
    return stuck;
  });
}

t.test('a client that leaves while one side reads nothing frees its place soon', async (t) => {
  const at = await stage(t, { headers_time: '1s', request_time: '1s' });
  at.upstream.handle = (seen) => accept(seen);
  for (const stalled of ['client', 'service'])
    for (const leave of ['resetAndDestroy', 'destroy'] as const) {
      const client = await opened(at);
      const service = at.upstream.seen.at(-1)!.socket;
      const [writer, reader] = stalled === 'service' ? [client.socket, service] : [service, client.socket];
      reader.pause();
      await fill(writer);
      client.socket[leave]();
      await until(`its place is free: ${stalled}, ${leave}`, async () => (await at.tunnels()) === 0);
      service.resume();
      await until('the service is let go', () => at.upstream.sockets.size === 0);
    }
});

t.test('a service that reads nothing for a while loses nothing', async (t) => {
  const at = await stage(t, { headers_time: '3s', request_time: '3s' });
  at.upstream.handle = (seen) => accept(seen);
  const client = await opened(at);
  const service = at.upstream.seen[0]!.socket.pause();
  await fill(client.socket);
  service.resume();
  await until('all of it came', () => client.socket.writableLength === 0);
  service.write('x');
  await until('and the tunnel is open', () => client.received().length === 1);
  t.equal(await at.tunnels(), 1);
});

t.test('above the limit a handshake is refused without a token, and tunnels take no place of requests', async (t) => {
  const at = await stage(t, { tunnels: 2, exchanges: 1 });
  const first = await opened(at);
  await opened(at);
  const { answer, closed } = await at.front.open(at.front.key);
  t.equal(answer.status, 503);
  t.equal(codeOf(answer), 'overloaded');
  checkHonest(t, answer, 'the third');
  await until('its connection is closed', closed);
  t.equal(
    (
      await exchangeRaw(at.front.port, `GET /v1/usage HTTP/1.1\r\nHost: x\r\n${at.front.key}\r\n\r\n`, 1)
    )[0]?.headers.get('x-ratelimit-remaining'),
    '999998',
  );
  first.socket.destroy();
  await until('there is room again', async () => (await at.tunnels()) === 1);
  t.equal((await at.front.open(at.front.key)).answer.status, 101);
});

t.test('metrics time the handshake when it is answered; the log tells the whole tunnel when it ends', async (t) => {
  const at = await stage(t);
  const client = await opened(at);
  const metrics = await scrape(at.front.gateway.adminUrl);
  t.equal(metrics.value('petgate_requests_total', { operation: 'watchPets', class: '1xx' }), 1);
  t.equal(metrics.value('petgate_tunnels'), 1);
  t.equal(metrics.value('petgate_tunnels_limit'), 1000);
  t.equal(metrics.value('petgate_exchanges_in_flight'), 0);
  t.equal(metrics.value('petgate_upstream_in_flight', { upstream: 'pets' }), 0);
  t.equal(metrics.value('petgate_admitted_total', { operation: 'watchPets' }), 1);
  t.equal(metrics.value('petgate_request_duration_seconds_count', { operation: 'watchPets' }), 1);
  t.ok(metrics.value('petgate_upstream_duration_seconds_sum', { upstream: 'pets' }) > 0, 'and the service its part');
  t.same(at.lines(), []);
  client.socket.write(Buffer.from([0x82, 0x83, 0, 0, 0, 0, 1, 2, 3]));
  await until('the echo came', () => client.received().length === 5);
  await new Promise((resolve) => setTimeout(resolve, 300));
  client.socket.end();
  await allClosed(t, at, client, 'client');
  const [line] = at.lines();
  t.match(line, {
    method: 'GET',
    operation: 'watchPets',
    plan: 'free',
    key: at.front.keyId,
    outcome: 'admitted',
    status: 101,
    bytes: 5,
    bytesIn: 9,
    counted: true,
    code: null,
  });
  t.ok(Number(line?.['ms']) >= 300, 'from the handshake to the end');
  t.ok(Number(line?.['upstreamMs']) < 300, 'of it the service took as long as it took to agree');
  const after = await scrape(at.front.gateway.adminUrl);
  t.equal(
    after.value('petgate_request_duration_seconds_sum', { operation: 'watchPets' }),
    metrics.value('petgate_request_duration_seconds_sum', { operation: 'watchPets' }),
    'and no metric saw the tunnel',
  );
  t.equal(after.value('petgate_requests_total', { operation: 'watchPets' }), 1);
});

t.test('a reload leaves tunnels open', async (t) => {
  const at = await stage(t);
  const client = await opened(at);
  at.front.gateway.program.child.kill('SIGHUP');
  await at.front.gateway.program.logged('settings reloaded');
  client.socket.write(Buffer.from([0x82, 0x81, 0, 0, 0, 0, 7]));
  await until('the echo came', () => client.received().equals(Buffer.from([0x82, 1, 7])));
  t.notOk(client.closed());
});

for (const workers of [1, 2]) {
  t.test(`a stop leaves tunnels open until its deadline, and no longer; ${workers} process(es)`, async (t) => {
    const at = await stage(t, {}, { config: { shutdown: '1500ms', workers } });
    const client = await opened(at);
    const startMs = performance.now();
    const stopped = at.front.gateway.program.stop('SIGTERM');
    await until('no new connection is taken', () =>
      exchangeRaw(at.front.port, 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n', 1, 200).then(
        () => false,
        () => true,
      ),
    );
    client.socket.write(Buffer.from([0x82, 0x81, 0, 0, 0, 0, 7]));
    await until('the echo still comes', () => client.received().length === 3);
    await stopped;
    const tookMs = performance.now() - startMs;
    t.ok(tookMs >= 1450 && tookMs < 20_000, `after ${tookMs.toFixed(0)} ms`);
    t.same(await at.front.gateway.program.exited, { code: 0, signal: null });
    await until('the client is let go', client.closed);
    t.equal(at.lines()[0]?.['closedBy'], 'shutdown', 'and the log tells');
  });
}

t.test('a stop without tunnels does not wait', async (t) => {
  const at = await stage(t, {}, { config: { shutdown: '120s' } });
  const client = await opened(at);
  client.socket.end();
  await allClosed(t, at, client, 'client');
  const startMs = performance.now();
  await at.front.gateway.program.stop('SIGTERM');
  t.ok(performance.now() - startMs < 60_000);
});
