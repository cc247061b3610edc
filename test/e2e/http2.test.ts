import { once } from 'node:events';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { constants, type Settings } from 'node:http2';
import { join } from 'node:path';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import t from 'tap';
import type { Test } from 'tap';
import { checkHonest } from '../answers/honest.js';
import { AMPLE_PLANS } from '../attacks/front.js';
import { issueCertificate, ownCertificate } from '../servers/certificate.js';
import { scrape } from '../servers/exposition.js';
import { headers, openFrames, pseudo } from '../servers/frames.js';
import { startGateway, type Gateway, type GatewayOptions } from '../servers/gateway.js';
import { openHttp2 } from '../servers/http2.js';
import { temporaryFolder } from '../servers/program.js';
import { exchangeRaw, openLine, statusesOf } from '../servers/raw.js';
import { redisFor } from '../servers/redis.js';
import { startUpstream, type Upstream } from '../servers/upstream.js';
import { until } from '../servers/until.js';
import { ledgerOf } from './ledger.js';

const ban = { after: 1000 };
const PLANS = {
  free: { limits: { minute: 60, day: 1000 }, ban },
  anonymous: { limits: { minute: 300, day: 10_000 }, ban },
};
const tls = ownCertificate(t);

/** @param secured without TLS when false */
async function start(
  t: Test,
  options: GatewayOptions = {},
  secured = true,
): Promise<{ gateway: Gateway; upstream: Upstream; key: string; keyId: string }> {
  const upstream = await startUpstream(t);
  const gateway = await startGateway(t, {
    plans: AMPLE_PLANS,
    ...(secured ? { tls } : {}),
    ...options,
    config: { ...options.config, upstreams: { pets: { addresses: [upstream.url] } } },
  });
  const made = await gateway.createKey({ plan: 'free' });
  return { gateway, upstream, key: `Bearer ${made.key}`, keyId: made.id };
}

for (const [where, count] of [
  ['Redis', 2],
  ['two workers', 1],
] as const) {
  t.test(
    `of 300 streams at once on one connection of each gateway exactly what the plan allows is admitted (${where})`,
    async (t) => {
      let environment: Readonly<Record<string, string>> = { PETGATE_WORKERS: '2' };
      if (where === 'Redis') {
        const redis = await redisFor(t);
        environment = { REDIS_URL: redis.url };
      }
      const options = { plans: PLANS, environment, config: { limits: { streams: 300 }, store: { deadline: '10s' } } };
      const { gateway, upstream } = await start(t, options);
      const gateways = [
        gateway,
        ...(await Promise.all(
          Array.from({ length: count - 1 }, () =>
            startGateway(t, {
              ...options,
              tls,
              config: { ...options.config, upstreams: { pets: { addresses: [upstream.url] } } },
            }),
          ),
        )),
      ];
      const clients = gateways.map(({ target }) => openHttp2(t, target));
      for (let round = 1; round <= 2; round += 1) {
        const made = await gateway.createKey({ plan: 'free' });
        upstream.seen.length = 0;
        const answers = await Promise.all(
          Array.from({ length: 300 }, (_, n) => clients[n % clients.length]!.send({ key: `Bearer ${made.key}` })),
        );
        const admitted = answers.filter(({ status }) => status === 200);
        const remaining = admitted
          .map((answer) => Number(answer.headers.get('x-ratelimit-remaining')))
          .sort((a, b) => b - a);
        t.same(
          remaining,
          Array.from({ length: 60 }, (_, n) => 59 - n),
          `round ${round}: sixty are admitted, each remaining figure told once`,
        );
        t.equal(answers.filter(({ status }) => status === 429).length, 240);
        t.equal(upstream.seen.length, 60);
        t.match(await ledgerOf(gateways.at(-1)!, made.id), { requests: 60, limited: 240 }, 'and so says the ledger');
        for (const answer of answers.slice(0, 5)) checkHonest(t, answer, String(answer.status));
      }
    },
  );
}

for (const workers of ['1', '2']) {
  t.test(
    'SIGTERM: streams under way are answered, no byte is lost, new ones are refused, then the process ends ' +
      `with 0 (workers: ${workers})`,
    async (t) => {
      const { gateway, upstream, key } = await start(t, {
        environment: { PETGATE_WORKERS: workers },
        config: { shutdown: '8s' },
      });
      const held: ServerResponse[] = [];
      upstream.handle = (_seen, response) => void held.push(response);
      const client = openHttp2(t, gateway.target);
      const idle = openHttp2(t, gateway.target);
      t.equal((await idle.send({ path: '/openapi.json' })).status, 200);
      const underWay = Array.from({ length: 20 }, () => client.send({ key }));
      await until('twenty are under way', () => held.length === 20);
      let farewell: readonly number[] = [];
      client.session.on('goaway', (code: number, last: number) => (farewell = [code, last]));
      const stopped = gateway.program.stop('SIGTERM');
      await until('the idle one is closed, the other told', () => idle.closed() && farewell.length > 0);
      t.same(farewell, [constants.NGHTTP2_NO_ERROR, 39], 'nothing behind the twentieth is taken');
      for (const response of held) response.end(Buffer.alloc(300_000, 'x'));
      for (const { status, body, reset } of await Promise.all(underWay))
        t.same([status, body.length, reset], [200, 300_000, 0]);
      await stopped;
      t.same(await gateway.program.exited, { code: 0, signal: null });
      t.equal(gateway.exchanges().length, 21, 'every exchange is in the log');
    },
  );
}

/**
 * The accident: Node tells of a stream's end in more than one way, and a client that keeps to its limit must not look
 * like one that gives up.
 */
t.test('a client always at its limit of streams is never refused one', async (t) => {
  const { gateway, key } = await start(t, { config: { limits: { streams: 10 }, log: { access: false } } });
  const client = openHttp2(t, gateway.target);
  await client.send();
  let asked = 0;
  const ends = new Map<string, number>();
  const ask = async (): Promise<void> => {
    while (asked < 1000) {
      asked += 1;
      const { status, reset } = await client.send(asked % 2 === 0 ? { key } : { key, method: 'POST', body: '{}' });
      ends.set(`${status} ${reset}`, (ends.get(`${status} ${reset}`) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: 10 }, ask));
  t.strictSame([...ends], [['200 0', 1000]]);
});

t.test('SIGTERM with a stream that does not end: cut at the deadline, and still 0', async (t) => {
  const { gateway, upstream, key } = await start(t, { config: { shutdown: '500ms' } });
  upstream.handle = () => undefined;
  const client = openHttp2(t, gateway.target);
  const stuck = client.send({ key });
  const half = await openFrames(t, gateway.target);
  half.write(headers(1, [...pseudo('POST'), ['authorization', key]], false));
  await until('it is under way', () => upstream.seen.length === 1);
  const startMs = performance.now();
  await gateway.program.stop('SIGTERM');
  const tookMs = performance.now() - startMs;
  t.same(await gateway.program.exited, { code: 0, signal: null });
  t.ok(tookMs >= 450 && tookMs < 10_000, `after ${tookMs.toFixed(0)} ms`);
  t.equal((await stuck).status, 0);
});

t.test('a renewed certificate, and settings: connections of before go on, new ones get both', async (t) => {
  const folder = temporaryFolder(t);
  const served = { ...tls, cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
  const next = issueCertificate(folder, 'next');
  for (const part of ['cert', 'key'] as const) copyFileSync(tls[part], served[part]);
  const { gateway, key } = await start(t, { tls: { ...served, ca: tls.ca + next.ca } });
  const before = openHttp2(t, gateway.target);
  t.equal((await before.send({ key })).status, 200);
  for (const part of ['cert', 'key'] as const) copyFileSync(next[part], served[part]);
  gateway.program.child.kill('SIGHUP');
  await gateway.program.logged('settings reloaded');
  const after = openHttp2(t, gateway.target);
  t.equal((await after.send({ key })).status, 200);
  const serialOf = ({ session }: typeof after): string =>
    (session.socket as unknown as { getPeerCertificate(): { serialNumber: string } }).getPeerCertificate().serialNumber;
  t.equal(serialOf(after), next.serial);
  t.equal((await before.send({ key })).status, 200);
  t.equal(serialOf(before), tls.serial, 'on the connection of before');
  t.equal((await scrape(gateway.adminUrl)).value('petgate_connections'), 2);
  const file = join(gateway.dataFolder, 'config/gateway.yaml');
  writeFileSync(file, `${readFileSync(file, 'utf8')}limits: { streams: 7 }\n`);
  const limited = async (): Promise<boolean> => {
    const { session } = openHttp2(t, gateway.target);
    const [settings] = (await once(session, 'remoteSettings')) as [Settings];
    session.destroy();
    return settings.maxConcurrentStreams === 7;
  };
  await until('new connections are notified of fewer streams', limited);
  before.session.destroy();
  await until(
    'connections are counted right',
    async () => (await scrape(gateway.adminUrl)).value('petgate_connections') === 1,
  );
});

t.test('behind a PROXY header the caller is who it says; browsers are told who may read', async (t) => {
  const { gateway, key } = await start(t, {
    config: {
      listen: { proxy_protocol: true },
      trusted_proxies: ['127.0.0.1'],
      cors: { origins: ['https://app.example'] },
    },
  });
  const raw = connect(gateway.port, '127.0.0.1');
  raw.write('PROXY TCP4 192.0.2.44 127.0.0.1 1234 443\r\n');
  const client = openHttp2(t, gateway.target, {
    createConnection: () => connectTls({ socket: raw, servername: 'localhost', ca: tls.ca, ALPNProtocols: ['h2'] }),
  });
  for (const [ask, status] of [
    [{ key }, 200],
    [{}, 401],
    [{ key, path: '/v1/%zz' }, 400],
  ] as const) {
    const answer = await client.send({ ...ask, fields: { origin: 'https://app.example' } });
    t.same(
      [answer.status, answer.headers.get('access-control-allow-origin'), answer.headers.get('vary')],
      [status, 'https://app.example', 'Origin'],
    );
    checkHonest(t, answer, String(status));
  }
  await until('they are logged', () => gateway.exchanges().length === 3);
  t.ok(gateway.exchanges().every(({ address, http }) => address === '192.0.2.44' && http === '2'));
});

t.test('HTTP/1.1 is served beside it, alone without TLS, and alone where HTTP/2 is switched off', async (t) => {
  const { gateway, key } = await start(t);
  const plain = `GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: ${key}\r\n\r\n`;
  t.same(statusesOf(await exchangeRaw(gateway.target, plain.repeat(2), 2)), [200, 200]);
  const client = openHttp2(t, gateway.target);
  t.equal((await client.send({ key })).status, 200);
  const spoken = (): readonly unknown[] => gateway.exchanges().map(({ http }) => http);
  await until('three are logged', () => spoken().length === 3);
  t.same(spoken(), ['1.1', '1.1', '2']);
  t.notMatch(gateway.program.output(), /warning/i);

  const off = await start(t, { config: { tls: { cert: tls.cert, key: tls.key, http2: false } } });
  const refused = openHttp2(t, off.gateway.target);
  await until('HTTP/2 is not spoken', refused.closed);
  t.equal(
    (
      await exchangeRaw(off.gateway.target, `GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: ${off.key}\r\n\r\n`, 1)
    )[0]?.status,
    200,
  );

  const bare = await start(t, {}, false);
  const { text } = openLine(t, bare.gateway.target, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0');
  await until('it is refused', () => text().includes('\r\n\r\n'));
  t.match(text(), /^HTTP\/1\.1 (?:400|505) /, 'without TLS, HTTP/2 by prior knowledge is refused');
});
