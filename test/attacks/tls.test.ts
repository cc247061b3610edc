import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';
import t from 'tap';
import type { Test } from 'tap';
import { checkHonest } from '../answers/honest.js';
import { ownCertificate } from '../servers/certificate.js';
import { scrape } from '../servers/exposition.js';
import { startUpstream } from '../servers/upstream.js';
import { until } from '../servers/until.js';
import { request, startFront } from './front.js';

const upstream = await startUpstream(t);
const tls = ownCertificate(t);
const { ca } = tls;
const front = await startFront(t, upstream.url, { tls, config: { limits: { headers_time: '1s' } } });

t.beforeEach(() => {
  upstream.seen.length = 0;
});

const failures = async (reason: string): Promise<number> =>
  (await scrape(front.gateway.adminUrl)).value('petgate_tls_handshake_failures_total', { reason });

/** What comes back for these bytes over plain TCP, and how the connection ends. */
function sendPlain(port: number, bytes: string | Buffer): Promise<{ text: string; error: string; tookMs: number }> {
  return new Promise((resolve) => {
    const [startMs, socket] = [performance.now(), connect(port, '127.0.0.1')];
    let [text, error] = ['', ''];
    socket
      .on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
      .on('error', ({ code = '' }: NodeJS.ErrnoException) => (error = code));
    socket.on('close', () => resolve({ text, error, tookMs: performance.now() - startMs })).write(bytes);
  });
}

function shake(t: Test, options: ConnectionOptions): Promise<TLSSocket | string> {
  return new Promise((resolve) => {
    const socket = connectTls({ host: '127.0.0.1', servername: 'localhost', port: front.port, ...options }, () =>
      resolve(socket),
    );
    t.teardown(() => socket.destroy());
    socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? 'error'));
  });
}

/** The attack (or the slip): plain HTTP, rubbish or nothing at a port that expects a handshake. */
t.test('what is no handshake is closed, counted, and fills no log', async (t) => {
  t.equal(await front.good(), 200);
  await until('it is logged', () => front.gateway.program.lines().some(({ msg }) => msg === 'exchange'));
  const saidBefore = front.gateway.program.output();
  t.match(
    await sendPlain(front.port, request('GET /v1/pets', front.key)),
    { text: '', error: '' },
    'plain HTTP: closed in order',
  );
  for (let n = 0; n < 100; n += 1) await sendPlain(front.port, n % 2 === 0 ? 'rubbish\r\n\r\n' : Buffer.alloc(500, n));
  t.equal(await failures('plain_http'), 1);
  await new Promise<void>((resolve) => {
    const socket = connect(front.port, '127.0.0.1', () => socket.end())
      .resume()
      .on('close', () => resolve());
  });
  await until('who leaves is counted too', async () => (await failures('left')) >= 1);
  const total = (await scrape(front.gateway.adminUrl)).value('petgate_tls_handshake_failures_total');
  t.equal(total, 102, 'each once');
  t.equal(front.gateway.program.output(), saidBefore, 'no line of log for any of them');
  t.equal(upstream.seen.length, 1, 'only the good one went on');
  t.equal(
    (await scrape(front.gateway.adminUrl)).value('petgate_requests_total', { operation: 'malformed' }),
    0,
    'they are no requests',
  );
  t.equal(await front.good(), 200);
});

/** The attack: slowloris before the handshake is done, where no limit of HTTP looks. */
t.test('a handshake has as long as a header, however alive it looks', async (t) => {
  const before = await failures('timeout');
  const hello = Buffer.concat([Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]), Buffer.alloc(505)]);
  const silent = Array.from({ length: 20 }, () => sendPlain(front.port, ''));
  const startMs = performance.now();
  const drip = connect(front.port, '127.0.0.1')
    .on('error', () => undefined)
    .resume();
  let at = 0;
  const timer = setInterval(() => drip.write(hello.subarray(at, ++at)), 50);
  await new Promise<void>((resolve) => drip.on('close', () => resolve()));
  clearInterval(timer);
  const tookMs = performance.now() - startMs;
  t.ok(at < 100 && tookMs > 900 && tookMs < 30_000, `a dripping one is cut after ${tookMs.toFixed(0)} ms`);
  t.ok(
    (await Promise.all(silent)).every(({ tookMs: ms }) => ms > 900 && ms < 30_000),
    'silent ones too',
  );
  t.equal((await failures('timeout')) - before, 21);
  t.equal(await front.good(), 200);
});

t.test('TLS 1.2 or newer, HTTP/2 for who wants it, no second handshake; who does not fit is counted', async (t) => {
  const before = await failures('no_common_version');
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    for (const [offered, chosen] of [
      [['h2', 'http/1.1'], 'h2'],
      [['http/1.1', 'h2'], 'h2'],
      [['http/1.1'], 'http/1.1'],
      [['spdy/1', 'http/1.1'], 'http/1.1'],
      [undefined, false],
    ] as const) {
      const socket = await shake(t, {
        ca,
        minVersion: version,
        maxVersion: version,
        ...(offered === undefined ? {} : { ALPNProtocols: [...offered] }),
      });
      if (typeof socket === 'string') throw new Error(`${version}: ${socket}`);
      t.equal(socket.getProtocol(), version);
      t.equal(socket.alpnProtocol, chosen, `${String(offered)}: ${String(chosen)}`);
    }
  }
  t.type(
    await shake(t, { ca, minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }),
    'string',
    'TLS 1.1 is refused',
  );
  t.equal(await shake(t, { ca, ALPNProtocols: ['h2c', 'spdy/1'] }), 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL');
  t.type(
    await shake(t, { ca, maxVersion: 'TLSv1.2', ciphers: 'AES128-SHA256' }),
    'string',
    'no cipher without forward secrecy with this key',
  );
  t.equal((await failures('no_common_version')) - before, 3);

  const again = await shake(t, { ca, maxVersion: 'TLSv1.2' });
  if (typeof again === 'string') throw new Error(again);
  const refused = new Promise<unknown>((resolve) => again.once('error', resolve));
  again.renegotiate({}, () => undefined);
  t.match(await refused, { code: /NO_RENEGOTIATION/ }, 'a second handshake is refused');

  const said = spawnSync('openssl', ['s_client', '-connect', `127.0.0.1:${front.port}`, '-verify_return_error'], {
    input: '',
    encoding: 'utf8',
  });
  t.not(said.status, 0);
  t.equal(await failures('distrusted'), 1, 'who does not trust the certificate says so');
  t.equal(await front.good(), 200);
});

/**
 * The attack: an answer that breaks off. HTTP/1.0 has no other end than the connection's, and TLS sockets cannot be
 * reset.
 */
t.test('an answer that breaks off is seen as broken by an HTTP/1.0 client too', async (t) => {
  upstream.handle = (_seen, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write('x'.repeat(100_000));
    setTimeout(() => response.destroy(), 100);
  };
  for (const version of ['1.0', '1.1']) {
    const bytes = request('GET /v1/pets', front.key, 'Connection: close').replace('HTTP/1.1', `HTTP/${version}`);
    const client = spawn('openssl', ['s_client', '-connect', `127.0.0.1:${front.port}`, '-quiet', '-ign_eof']);
    let text = '';
    for (const stream of [client.stdout, client.stderr])
      stream.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    client.stdin.write(bytes);
    const [code] = (await once(client, 'close')) as [number];
    t.match(text, /HTTP\/1\.1 200 /, `HTTP/${version}: the answer began`);
    t.not(code, 0, 'and broke off');
    t.match(text, /unexpected eof/, 'by an end that TLS tells from an orderly one');
  }
  upstream.handle = (_seen, response) => response.end('[]');
  t.equal(await front.good(), 200);
});

t.test("the caller's address is the connection's, and figures are honest for what is no HTTP inside TLS", async (t) => {
  const answer = await front.send('BLARG\r\n\r\n');
  t.equal(answer.status, 400);
  checkHonest(t, answer, 'no HTTP');
  const fields = [front.key, 'X-Forwarded-For: 192.0.2.9', 'X-Request-Id: forged'];
  t.equal((await front.send(request('GET /v1/pets', ...fields))).status, 200);
  const addresses = (): readonly unknown[] =>
    front.gateway.program
      .lines()
      .flatMap(({ status, request: id, address }) => (status === 400 || id === 'forged' ? [address] : []));
  await until('both are logged', () => addresses().length === 2);
  t.same(addresses(), ['127.0.0.1', '127.0.0.1']);
});

/** The attack is our own: a deployment, while somebody is half-way through a handshake. */
t.test('a handshake that hangs holds up no shutdown', async (t) => {
  const upstream = await startUpstream(t);
  const front = await startFront(t, upstream.url, {
    tls: ownCertificate(t),
    config: { shutdown: '120s' },
  });
  const hanging = sendPlain(front.port, Buffer.from([22, 3, 1]));
  await until('it is connected', async () => (await scrape(front.gateway.adminUrl)).value('petgate_connections') === 1);
  const startMs = performance.now();
  await front.gateway.program.stop('SIGTERM');
  t.same(await front.gateway.program.exited, { code: 0, signal: null });
  t.ok(performance.now() - startMs < 60_000, `it took ${(performance.now() - startMs).toFixed(0)} ms`);
  t.equal((await hanging).text, '');
});
