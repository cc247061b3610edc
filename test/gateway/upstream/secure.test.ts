import { copyFileSync, renameSync } from 'node:fs';
import { createServer } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { join } from 'node:path';
import t from 'tap';
import { codeOf } from '../../answers/honest.js';
import { request, startFront, type Front } from '../../attacks/front.js';
import { issueCertificate, pemOf } from '../../servers/certificate.js';
import { scrape } from '../../servers/exposition.js';
import { listen } from '../../servers/listen.js';
import { temporaryFolder } from '../../servers/program.js';
import { startTunnelFront } from '../../servers/tunnel-front.js';
import { startUpstream } from '../../servers/upstream.js';
import { until } from '../../servers/until.js';
import { startWebSocketUpstream } from '../../servers/websocket.js';

const NO_TLS = 'no TLS with this address: nothing is sent to it';
const REFUSED = 'the changed settings were refused; the previous ones stay in force';
const folder = temporaryFolder(t);
const good = issueCertificate(folder, 'good');
const renewed = issueCertificate(folder, 'renewed');

const failures = async ({ gateway }: Front, kind: string): Promise<number> =>
  (await scrape(gateway.adminUrl)).value('petgate_upstream_failures_total', { upstream: 'pets', kind });

/** Replaces a file in one step. */
function put(path: string, from: string): void {
  copyFileSync(from, `${path}.new`);
  renameSync(`${path}.new`, path);
}

t.test('requests, bodies and health checks go over https', async (t) => {
  const upstream = await startUpstream(t, { tls: pemOf(good) });
  const health = { path: '/readyz', every: '100ms' };
  const front = await startFront(t, upstream.url, { pets: { ca: good.cert, health } });
  t.equal(await front.good(), 200);
  const body = JSON.stringify({ name: 'x'.repeat(50_000) });
  const fields = ['Content-Type: application/json', `Content-Length: ${body.length}`];
  const added = await front.send(request('POST /v1/pets', front.key, ...fields) + body);
  t.equal(added.status, 200);
  t.equal(upstream.seen.find(({ method }) => method === 'POST')?.body, body);
  await until('it was asked for its health', () => upstream.seen.some(({ url }) => url === '/readyz'));
  upstream.handle = (_seen, response) => response.writeHead(503).end();
  await until('it is down', async () => {
    const { body: ready } = await front.gateway.admin('GET', '/readyz');
    return (ready as { parts: Record<string, { ok: boolean }> }).parts['upstream:pets']?.ok === false;
  });
});

t.test('a certificate that nobody trusts is an upstream that failed, with the reason in log and metric', async (t) => {
  const upstream = await startUpstream(t, { tls: pemOf(good) });
  const front = await startFront(t, upstream.url);
  const answer = await front.send(request('GET /v1/pets', front.key));
  t.equal(codeOf(answer), 'upstream_unavailable');
  const line = await front.gateway.program.logged(NO_TLS);
  t.match(line, { upstream: 'pets', address: upstream.url, code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  t.ok((await failures(front, 'tls')) >= 1);
  t.equal(await failures(front, 'unreachable'), 0);
  t.equal(upstream.seen.length, 0);
});

t.test('an upstream that takes connections and never agrees on TLS costs the deadline of a connection', async (t) => {
  const { port } = await listen(
    t,
    createServer((socket) => socket.resume()),
  );
  const front = await startFront(t, `https://127.0.0.1:${port}`, {
    pets: { connect: '50ms', deadline: '1h', breaker: { failures: 2 } },
  });
  t.equal(await front.good(), 503);
  t.match(await front.gateway.program.logged(NO_TLS), { code: 'ETIMEDOUT' });
  t.equal(await failures(front, 'tls'), 2, 'with the second attempt');
  t.equal(await failures(front, 'timeout'), 0);
});

t.test('files of TLS are read again when they change; broken ones are refused, and those before stay', async (t) => {
  const own = temporaryFolder(t);
  const [ca, cert, key] = ['ca', 'cert', 'key'].map((name) => join(own, `${name}.pem`)) as [string, string, string];
  put(ca, good.cert);
  put(cert, good.cert);
  put(key, good.key);
  const upstream = await startUpstream(t, {
    tls: { ...pemOf(renewed), requestCert: true, rejectUnauthorized: true, ca: renewed.ca },
  });
  const front = await startFront(t, upstream.url, { pets: { ca, cert, key, breaker: 'off' } });
  t.equal(await front.good(), 503, 'neither trusts the other');
  put(ca, renewed.cert);
  put(key, renewed.key);
  await front.gateway.program.logged(REFUSED);
  put(cert, renewed.cert);
  await until('they know each other', async () => (await front.good()) === 200);
});

t.test('WebSockets go over https, to a path, with the secret of the upstream', async (t) => {
  const upstream = await startWebSocketUpstream(t, undefined, pemOf(good));
  const pets = { ca: good.cert, authorization: { header: 'X-API-Key', variable: 'BILLING_KEY' }, strip_prefix: '/v1' };
  const environment = { BILLING_KEY: 'sesame' };
  const front = await startTunnelFront(t, { addresses: [`${upstream.url}/api`], pets, environment });
  const { answer } = await front.open(front.key, 'X-API-Key: mine');
  t.equal(answer.status, 101);
  const [seen] = upstream.seen;
  t.equal(seen?.url, '/api/pets/watch');
  t.equal(seen?.headers['x-api-key'], 'sesame');
  t.equal(seen?.headers.authorization, undefined);
  t.equal(seen?.headers.host, new URL(upstream.url).host);
  t.ok((seen?.socket as TLSSocket).encrypted);
});

t.test('a WebSocket to an upstream that is not trusted is refused, and told of', async (t) => {
  const upstream = await startWebSocketUpstream(t, undefined, pemOf(good));
  const front = await startTunnelFront(t, { addresses: [upstream.url] });
  const { answer } = await front.open(front.key);
  t.equal(answer.status, 503);
  t.match(await front.gateway.program.logged(NO_TLS), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  t.equal(upstream.seen.length, 0);
});
