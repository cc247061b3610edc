import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import t from 'tap';
import { AMPLE_PLANS, request } from '../attacks/front.js';
import { ownCertificate } from '../servers/certificate.js';
import { scrape } from '../servers/exposition.js';
import { startGateway } from '../servers/gateway.js';
import { startHaproxy } from '../servers/haproxy.js';
import { parseAnswers, type RawAnswer } from '../servers/raw.js';
import { startUpstream } from '../servers/upstream.js';
import { until } from '../servers/until.js';

const tls = ownCertificate(t);
/** Has HAProxy ask over HTTP, as balancers do, whether the gateway is well. */
const HEALTH_CHECK = [
  'option httpchk',
  'http-check send meth OPTIONS uri * ver HTTP/1.1 hdr Host pets.example',
  'http-check expect status 204',
];
/** What HAProxy adds to a header of version 2 when it is asked for all it can say. */
const VECTORS = 'send-proxy-v2 proxy-v2-options crc32c,unique-id,authority';

/** The answer to `bytes` for a client at `localAddress`. */
function ask(port: number, localAddress: string, bytes: string, ca?: string): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const plain = connect({ port, host: '127.0.0.1', localAddress });
    const socket = ca === undefined ? plain : connectTls({ socket: plain, servername: 'localhost', ca });
    let text = '';
    socket
      .setEncoding('latin1')
      .on('data', (more: string) => (text += more))
      .on('error', reject);
    socket.on('close', () => resolve(parseAnswers(text)[0] ?? { status: 0, headers: new Map(), body: text }));
    socket.write(bytes);
  });
}

for (const over of ['plain HTTP', 'TLS'] as const) {
  t.test(
    `behind a real HAProxy, over ${over}: clients are told apart, and its health checks are its own`,
    async (t) => {
      const upstream = await startUpstream(t);
      const gateway = await startGateway(t, {
        plans: { ...AMPLE_PLANS, anonymous: { ...AMPLE_PLANS.anonymous, limits: { minute: 1, day: 1000 } } },
        ...(over === 'TLS' ? { tls } : {}),
        environment: { PETS_URL: upstream.url },
        config: { listen: { proxy_protocol: true }, trusted_proxies: ['127.0.0.1'] },
      });
      const { key } = await gateway.createKey({ plan: 'free' });
      const ca = over === 'TLS' ? tls.ca : undefined;
      // A busy machine answers checks late. HAProxy takes a new server away for one of those.
      const checked = `check inter 500ms rise 1 fall 1000${over === 'TLS' ? ' check-ssl verify none' : ''}`;
      const addresses = (operation: string): readonly unknown[] =>
        gateway.program
          .lines()
          .filter((line) => line['operation'] === operation)
          .map(({ address }) => address);
      let client = 10;
      for (const [server, lines] of [
        ['send-proxy', []],
        ['send-proxy-v2', []],
        [`${VECTORS} ${checked}`, [...HEALTH_CHECK, 'unique-id-format %ci:%cp']],
      ] as const) {
        const port = await startHaproxy(t, gateway.port, server, lines);
        if (lines.length > 0) await until('health checks were answered', () => addresses('options').length >= 3);
        client += 1;
        const address = `127.0.0.${client}`;
        t.equal(
          (await ask(port, address, request('GET /v1/pets', `Authorization: Bearer ${key}`, 'Connection: close'), ca))
            .status,
          200,
          server,
        );
        await until('it is logged', () => addresses('listPets').at(-1) === address);
        t.equal(upstream.seen.at(-1)?.headers['x-forwarded-for'], address, 'the upstream is told who it is');
        const statuses: number[] = [];
        for (let count = 0; count < 2; count += 1)
          statuses.push(
            (await ask(port, address, request('GET /v1/usage', 'Authorization: Bearer bad', 'Connection: close'), ca))
              .status,
          );
        t.same(statuses, [401, 429], 'and limited by its own address alone');
      }
      t.same([...new Set(addresses('options'))], ['127.0.0.1'], 'by the address of the balancer');
      const metrics = await scrape(gateway.adminUrl);
      // Whoever looks whether HAProxy listens leaves at once, and with him the connection behind.
      for (const reason of ['untrusted_peer', 'malformed', 'timeout'])
        t.equal(
          metrics.value('petgate_proxy_protocol_refused_total', { reason }),
          0,
          `nothing of it was refused as ${reason}`,
        );
    },
  );
}
