import { readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { AMPLE_PLANS, request, startFront, type Front } from '../../../attacks/front.js';
import { startBalancer } from '../../../servers/balancer.js';
import { ownCertificate } from '../../../servers/certificate.js';
import type { Target } from '../../../servers/dial.js';
import { scrape } from '../../../servers/exposition.js';
import type { GatewayOptions } from '../../../servers/gateway.js';
import { binaryHeader, proxiedHeader, textHeader } from '../../../servers/proxy-header.js';
import { exchangeRaw, type RawAnswer, statusesOf } from '../../../servers/raw.js';
import { handshake, openTunnel } from '../../../servers/tunnel.js';
import { startTunnelFront } from '../../../servers/tunnel-front.js';
import { until } from '../../../servers/until.js';
import { startUpstream, type Upstream } from '../../../servers/upstream.js';
import { frameOf, startWebSocketUpstream } from '../../../servers/websocket.js';

const HERE = { address: '192.0.2.1', port: 443 };
const CALLER = { address: '203.0.113.7', port: 56_324 };
const CALLER6 = { address: '2001:db8:1:2:0:0:0:9', port: 1 };
const LOCAL = binaryHeader(0x20, 0x00, Buffer.alloc(0));
const tls = ownCertificate(t);

interface Proxied extends Front {
  readonly upstream: Upstream;
  /** The gateway behind a balancer that says this header. */
  readonly behind: (header: Buffer, oneByOne?: number) => Promise<Target>;
  readonly refused: (reason: string) => Promise<number>;
  /** Addresses of the next exchanges in the access log, so many. */
  readonly logged: (count: number) => Promise<readonly unknown[]>;
}

async function startProxied(t: Test, { config = {}, ...options }: GatewayOptions = {}): Promise<Proxied> {
  const upstream = await startUpstream(t);
  const front = await startFront(t, upstream.url, {
    ...options,
    config: { listen: { host: '127.0.0.1', port: 0, proxy_protocol: true }, trusted_proxies: ['127.0.0.1'], ...config },
  });
  let seen = 0;
  return {
    ...front,
    upstream,
    behind: async (header, oneByOne = 0) => {
      const port = await startBalancer(t, front.port, { header, oneByOne });
      return options.tls === undefined ? port : { port, ca: options.tls.ca };
    },
    refused: async (reason) =>
      (await scrape(front.gateway.adminUrl)).value('petgate_proxy_protocol_refused_total', { reason }),
    logged: async (count) => {
      let addresses: unknown[] = [];
      await until(
        `${count} more are logged`,
        () =>
          (addresses = front.gateway.program
            .lines()
            .flatMap(({ msg, address }) => (msg === 'exchange' ? [address] : []))).length >=
          seen + count,
      );
      seen += count;
      return addresses.slice(seen - count, seen);
    },
  };
}

const first = async (target: Target, bytes: string | Buffer): Promise<RawAnswer | undefined> =>
  (await exchangeRaw(target, bytes, 1))[0];

for (const over of ['plain HTTP', 'TLS'] as const) {
  const secured: GatewayOptions = over === 'TLS' ? { tls } : {};

  t.test(
    `over ${over}: who the header names is who is served, logged and told to the service, in whatever pieces it comes`,
    async (t) => {
      const { behind, key, upstream, logged } = await startProxied(t, secured);
      const body = JSON.stringify({ name: 'x'.repeat(100_000) });
      for (const [name, header, expected] of [
        ['version 1', textHeader(CALLER, HERE), CALLER.address],
        ['version 1, IPv6', textHeader(CALLER6, { address: '2001:db8::1', port: 443 }), '2001:db8:1:2::9'],
        ['version 2', proxiedHeader(CALLER, HERE, [[0x04, Buffer.alloc(300)]]), CALLER.address],
        ['version 2, IPv6', proxiedHeader(CALLER6, { address: '2001:db8:0:0:0:0:0:1', port: 443 }), '2001:db8:1:2::9'],
        ['version 1, nobody named', Buffer.from('PROXY UNKNOWN\r\n'), '127.0.0.1'],
        ['version 2, the balancer itself', LOCAL, '127.0.0.1'],
      ] as const) {
        for (const oneByOne of [0, header.length, header.length + 40]) {
          const target = await behind(header, oneByOne);
          t.equal(
            (await first(target, request('GET /v1/pets', key)))?.status,
            200,
            `${name}, ${oneByOne} bytes one by one`,
          );
          t.same(await logged(1), [expected], `${name}: logged`);
          t.equal(upstream.seen.at(-1)?.headers['x-forwarded-for'], expected, `${name}: told to the service`);
        }
        const target = await behind(header);
        const post =
          request('POST /v1/pets', key, 'Content-Type: application/json', `Content-Length: ${body.length}`) + body;
        const answers = await exchangeRaw(target, post + request('GET /v1/pets', key, 'Connection: close'));
        t.same(statusesOf(answers), [200, 200], `${name}: two requests right behind the header`);
        t.equal(upstream.seen.at(-2)?.body, body, `${name}: no byte of a body is lost`);
        t.same(await logged(2), [expected, expected], `${name}: both logged`);
      }
    },
  );

  t.test(`over ${over}: what begins otherwise is closed without a word, and counted`, async (t) => {
    const { port, behind, key, refused, upstream } = await startProxied(t, secured);
    const closed = async (bytes: Buffer): Promise<string> => {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      let text = '';
      socket
        .setEncoding('latin1')
        .on('data', (more: string) => (text += more))
        .write(bytes);
      await new Promise((resolve) => socket.on('close', resolve));
      return text;
    };
    const strange = [
      request('GET /v1/pets', key),
      'PROXY TCP4 203.0.113.7 192.0.2.1 1 65536\r\n',
      '\x16\x03\x01\x02\x00\x01',
      `PROXY ${'x'.repeat(200)}`,
    ].map((text) => Buffer.from(text, 'latin1'));
    for (const bytes of [
      ...strange,
      binaryHeader(0x22, 0x11, Buffer.alloc(12)),
      binaryHeader(0x21, 0x11, Buffer.alloc(0), 60_000),
    ])
      t.equal(await closed(bytes), '', JSON.stringify(bytes.toString('latin1').slice(0, 30)));
    t.equal(await refused('malformed'), 6);
    const twice = await first(
      await behind(Buffer.concat([textHeader(CALLER, HERE), textHeader(HERE, HERE)])),
      request('GET /v1/pets', key),
    ).catch(() => undefined);
    t.notMatch(twice ?? {}, { status: 200 }, 'a second header is none');
    t.equal(upstream.seen.length, 0, 'nothing of it was served');
    t.equal(
      (await first(await behind(textHeader(CALLER, HERE)), request('GET /v1/pets', key)))?.status,
      200,
      'all is well',
    );
  });

  t.test(`over ${over}: half a header is cut in time, and one that is left counts as such`, async (t) => {
    const { port, refused } = await startProxied(t, {
      ...secured,
      config: { limits: { headers_time: '1s', request_time: '120s' } },
    });
    const sinceMs = performance.now();
    const slow = connect(port, '127.0.0.1').on('error', () => undefined);
    slow.write('PROXY TCP4 203.');
    await new Promise((resolve) => slow.resume().on('close', resolve));
    t.ok(performance.now() - sinceMs < 60_000, 'as soon as headers_time is over');
    t.equal(await refused('timeout'), 1);
    connect(port, '127.0.0.1').on('connect', function (this: Socket) {
      this.end();
    });
    connect(port, '127.0.0.1')
      .on('connect', function (this: Socket) {
        this.write('PROXY ', () => this.resetAndDestroy());
      })
      .on('error', () => undefined);
    await until('both are counted', async () => (await refused('left')) === 2);
  });

  t.test(
    `over ${over}: connections whose header is still to come take their place, and hold up no shutdown`,
    async (t) => {
      const { gateway, port, behind, key } = await startProxied(t, {
        ...secured,
        config: { limits: { connections: 2 }, shutdown: '120s' },
      });
      const target = await behind(textHeader(CALLER, HERE));
      const silent = [1, 2].map(() =>
        connect(port, '127.0.0.1')
          .on('error', () => undefined)
          .resume(),
      );
      t.teardown(() => silent.forEach((socket) => socket.destroy()));
      await until(
        'both are counted as open',
        async () => (await scrape(gateway.adminUrl)).value('petgate_connections') === 2,
      );
      await until('a third is dropped', () =>
        first(target, request('GET /v1/pets', key)).then(
          (answer) => answer === undefined,
          () => true,
        ),
      );
      t.equal((await scrape(gateway.adminUrl)).value('petgate_connections_dropped_total') > 0, true);
      const sinceMs = performance.now();
      await gateway.program.stop('SIGTERM');
      t.same(await gateway.program.exited, { code: 0, signal: null });
      t.ok(performance.now() - sinceMs < 60_000, 'at once');
    },
  );

  t.test(`over ${over}: a tunnel belongs to who is named, too`, async (t) => {
    const upstream = await startWebSocketUpstream(t);
    const front = await startTunnelFront(t, {
      ...secured,
      addresses: [upstream.url],
      config: { listen: { host: '127.0.0.1', port: 0, proxy_protocol: true }, trusted_proxies: ['127.0.0.1'] },
    });
    const port = await startBalancer(t, front.port, { header: proxiedHeader(CALLER, HERE), oneByOne: 30 });
    const client = await openTunnel(
      t,
      over === 'TLS' ? { port, ca: tls.ca } : port,
      handshake('/v1/pets/watch', front.key),
    );
    t.equal(client.answer.status, 101);
    t.equal(upstream.seen[0]?.headers['x-forwarded-for'], CALLER.address);
    client.socket.write(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]));
    await until('it is echoed', () => client.received().equals(frameOf(1, Buffer.from('hi'))));
  });
}

t.test(
  'a peer that is no trusted proxy is closed before a byte of it is read; who is one may change with the settings',
  async (t) => {
    const { gateway, port, key, refused } = await startProxied(t, {
      config: { trusted_proxies: ['127.0.0.9', '10.0.0.0/8'] },
    });
    const from = (localAddress: string): Promise<string> =>
      new Promise((resolve) => {
        let text = '';
        const socket = connect({ port, host: '127.0.0.1', localAddress })
          .on('error', () => undefined)
          .on('close', () => resolve(text));
        socket.setEncoding('latin1').on('data', (more: string) => (text += more));
        socket.write(textHeader(CALLER, HERE).toString() + request('GET /v1/pets', key, 'Connection: close'));
      });
    t.equal(await from('127.0.0.1'), '');
    t.equal(await refused('untrusted_peer'), 1);
    t.match(await from('127.0.0.9'), /^HTTP\/1\.1 200/);
    t.equal(await refused('untrusted_peer'), 1);
    const file = join(gateway.dataFolder, 'config/gateway.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace('127.0.0.9', '127.0.0.1'));
    await until('the other one is trusted', async () => (await from('127.0.0.1')).startsWith('HTTP/1.1 200'));
    t.equal(await from('127.0.0.9'), '');
  },
);

t.test('limits without a key are those of who is named, and X-Forwarded-For is read from there on', async (t) => {
  const plans = { ...AMPLE_PLANS, anonymous: { ...AMPLE_PLANS.anonymous, limits: { minute: 2, day: 1000 } } };
  const { behind, logged } = await startProxied(t, {
    plans,
    config: { trusted_proxies: ['127.0.0.1', '198.51.100.0/24'] },
  });
  const statuses = async (header: Buffer, ...fields: readonly string[]): Promise<readonly (number | undefined)[]> => {
    const target = await behind(header);
    const found: (number | undefined)[] = [];
    for (let count = 0; count < 3; count += 1)
      found.push((await first(target, request('GET /v1/pets', ...fields)))?.status);
    return found;
  };
  t.same(await statuses(textHeader(CALLER, HERE)), [401, 401, 429]);
  t.same(
    await statuses(proxiedHeader({ address: '203.0.113.8', port: 1 }, HERE)),
    [401, 401, 429],
    'another one has its own',
  );
  t.same(
    await statuses(proxiedHeader(CALLER, HERE), 'X-Forwarded-For: 192.0.2.77'),
    [429, 429, 429],
    'who is named is no proxy of ours: what it says of itself counts for nothing',
  );
  t.equal((await logged(9)).at(-1), CALLER.address);
  const near = proxiedHeader({ address: '198.51.100.4', port: 1 }, HERE);
  t.same(
    await statuses(near, 'X-Forwarded-For: 6.6.6.6, 192.0.2.78'),
    [401, 401, 429],
    'a trusted proxy that is named says for whom it speaks',
  );
  t.same(await logged(3), ['192.0.2.78', '192.0.2.78', '192.0.2.78'], 'by the nearest hop');
});

t.test('several workers read it alike', async (t) => {
  const { behind, key, logged } = await startProxied(t, { config: { workers: 2 } });
  for (const last of [1, 2, 3, 4]) {
    const caller = `203.0.113.${last}`;
    t.equal(
      (await first(await behind(proxiedHeader({ address: caller, port: 1 }, HERE)), request('GET /v1/pets', key)))
        ?.status,
      200,
    );
    t.same(await logged(1), [caller]);
  }
});

t.test('without the setting a header is no HTTP, and nothing of the protocol is counted', async (t) => {
  const upstream = await startUpstream(t);
  const front = await startFront(t, upstream.url, { config: { trusted_proxies: ['127.0.0.1'] } });
  t.equal(
    (
      await first(
        await startBalancer(t, front.port, { header: textHeader(CALLER, HERE) }),
        request('GET /v1/pets', front.key),
      )
    )?.status,
    400,
  );
  t.ok(Number.isNaN((await scrape(front.gateway.adminUrl)).value('petgate_proxy_protocol_refused_total')));
});
