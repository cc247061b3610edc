import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createPlainServer } from 'node:net';
import { createServer, type Server, type TlsOptions, type TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import type { Test } from 'tap';
import type { Pool } from '../../../../src/gateway/upstream/http1/pool.js';
import type { UpstreamSettings } from '../../../../src/gateway/config/schema/upstream.js';
import { secureContextOf, TlsClient } from '../../../../src/gateway/upstream/http1/tls.js';
import { issueCertificate, pemOf, type Issued } from '../../../servers/certificate.js';
import { listen } from '../../../servers/listen.js';
import { temporaryFolder } from '../../../servers/program.js';
import { until } from '../../../servers/until.js';
import { ended, GET, OK, open, send, whole } from './service.js';

const DAY_MS = 86_400_000;
const folder = temporaryFolder(t);
const good = issueCertificate(folder, 'good');
const stranger = issueCertificate(folder, 'stranger');
const elsewhere = issueCertificate(folder, 'elsewhere', { names: 'DNS:elsewhere.example' });
const over = issueCertificate(folder, 'over', { fromMs: Date.now() - 9 * DAY_MS, toMs: Date.now() - DAY_MS });
const own = issueCertificate(folder, 'own');

interface Service {
  readonly port: number;
  readonly sockets: TLSSocket[];
  received: string;
  handle: (socket: TLSSocket) => void;
  readonly server: Server;
}

async function listenSecure(t: Test, options: TlsOptions): Promise<Service> {
  const sockets: TLSSocket[] = [];
  const server = createServer(options, (socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined).setEncoding('latin1');
    socket.on('data', (text: string) => {
      service.received += text;
      service.handle(socket);
    });
  });
  const { port } = await listen(t, server);
  const service: Service = { port, sockets, server, received: '', handle: (socket) => void socket.write(OK) };
  return service;
}

type Options = Partial<UpstreamSettings['tls']> & {
  readonly name?: string;
  readonly connectMs?: number;
  readonly connections?: number;
};

/** A pool whose connections are encrypted, and why they failed. */
function openSecure(
  t: Test,
  port: number,
  { name = '127.0.0.1', connectMs = 5000, connections = 1, ...files }: Options = {},
): { pool: Pool; codes: string[]; opened: () => number } {
  const codes: string[] = [];
  let opened = 0;
  class Counted extends TlsClient {
    override connect(...options: Parameters<TlsClient['connect']>): TLSSocket {
      opened += 1;
      return super.connect(...options);
    }
  }
  const context = secureContextOf({ ca: good.ca, cert: null, key: null, ...files });
  const pool = open(t, port, {
    ...{ tls: new Counted(context, name, (code) => void codes.push(code)), connections, connectMs },
  });
  return { pool, codes, opened: () => opened };
}

/** Answers from a process of its own: before this one has come to its next turn. */
async function startQuick(t: Test): Promise<number> {
  const script = fileURLToPath(new URL('../../../bench/subjects/upstream.js', import.meta.url));
  const child = fork(script, { env: { PATH: process.env['PATH'] ?? '', TLS_CERT: good.cert, TLS_KEY: good.key } });
  t.teardown(() => child.kill());
  const [port] = (await once(child, 'message')) as [number];
  return port;
}

t.test('however quick the answers, connections serve on', async (t) => {
  const { pool, opened } = openSecure(t, await startQuick(t), { connections: 16 });
  let [asked, answered] = [0, 0];
  const ask = (): void => {
    asked += 1;
    pool.dispatch(GET, {
      onRequestStart: () => undefined,
      onResponseStart: () => undefined,
      onResponseData: () => undefined,
      onResponseEnd: () => {
        answered += 1;
        if (asked < 2000) ask();
      },
      onResponseError: () => t.fail('it broke'),
      onFault: () => t.fail('it broke'),
    });
  };
  for (let n = 0; n < 16; n += 1) ask();
  await until('all are answered', () => answered === 2000);
  t.equal(opened(), 16);
});

for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
  t.test(`${version}: requests and answers pass, on one connection`, async (t) => {
    const service = await listenSecure(t, { ...pemOf(good), maxVersion: version, minVersion: version });
    const { pool } = openSecure(t, service.port);
    t.same(await ended(send(pool)), [['ended', 200, '[]']]);
    const body = Buffer.alloc(100_000, 'y');
    const answer = 'x'.repeat(200_000);
    service.handle = (socket) => {
      if (service.received.endsWith('y'.repeat(body.length)))
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${answer.length}\r\n\r\n${answer}`);
    };
    t.same(await ended(send(pool, { ...GET, method: 'POST', body: whole(body) })), [['ended', 200, answer]]);
    t.equal(service.sockets.length, 1);
  });

  t.test(`${version}: the next connection takes up the session`, async (t) => {
    const service = await listenSecure(t, { ...pemOf(good), maxVersion: version, minVersion: version });
    service.handle = (socket) => void socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n[]');
    const reused: boolean[] = [];
    service.server.on('secureConnection', (socket) => reused.push(socket.isSessionReused()));
    const { pool } = openSecure(t, service.port);
    for (let n = 0; n < 3; n += 1) {
      await ended(send(pool));
      await until('it is closed', () => pool.stats.connected === 0);
    }
    t.same(reused, [false, true, true]);
  });

  t.test(`${version}: a server that wants a certificate gets ours, or nothing is sent to it`, async (t) => {
    const asking = { requestCert: true, rejectUnauthorized: true, ca: own.ca };
    const service = await listenSecure(t, { ...pemOf(good), ...asking, maxVersion: version, minVersion: version });
    service.server.on('tlsClientError', () => undefined);
    const { cert, key } = pemOf(own);
    const { pool } = openSecure(t, service.port, { cert: cert.toString(), key: key.toString() });
    t.same(await ended(send(pool)), [['ended', 200, '[]']]);
    const without = openSecure(t, service.port);
    t.same(await ended(send(without.pool)), [['failed', 0, '']]);
    t.match(without.codes[0], /^ERR_SSL_|ECONNRESET/);
    t.equal(service.sockets.length, 1);
  });
}

const REFUSED: readonly (readonly [string, Issued, Parameters<typeof openSecure>[2], string])[] = [
  ['signed by nobody who is trusted', stranger, {}, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ['signed by itself, with the list of the system', good, { ca: null }, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ['for other names', elsewhere, { ca: elsewhere.ca }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['for another name than the one asked for', good, { name: 'pets.example' }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['that has ended', over, { ca: over.ca }, 'CERT_HAS_EXPIRED'],
];

for (const [what, issued, options, code] of REFUSED) {
  t.test(`with a certificate ${what} nothing is sent`, async (t) => {
    const service = await listenSecure(t, pemOf(issued));
    const { pool, codes } = openSecure(t, service.port, options);
    const sent = send(pool);
    t.same(await ended(sent), [['failed', 0, '']]);
    t.same(codes, [code]);
    t.equal(sent.started, false);
    t.equal(service.received, '');
  });
}

t.test('a certificate for the name that is said is good, whatever the address', async (t) => {
  const names: string[] = [];
  const SNICallback: TlsOptions['SNICallback'] = (name, done) => {
    names.push(name);
    done(null);
  };
  const service = await listenSecure(t, { ...pemOf(elsewhere), SNICallback });
  const { pool } = openSecure(t, service.port, { ca: elsewhere.ca, name: 'elsewhere.example' });
  t.same(await ended(send(pool)), [['ended', 200, '[]']]);
  t.same(names, ['elsewhere.example']);
});

t.test('a server that says anything but TLS, or nothing at all, gets no request', async (t) => {
  const answers: readonly (readonly [string, string, RegExp])[] = [
    ['plain HTTP', 'HTTP/1.1 400 Bad Request\r\n\r\n', /^ERR_SSL_/],
    ['garbage', '\u0016\u0003\u0001\u0000\u0004abcd', /^ERR_SSL_/],
    ['nothing', '', /^ETIMEDOUT$/],
  ];
  for (const [what, answer, code] of answers) {
    let received = '';
    const server = createPlainServer((socket) => {
      socket.setEncoding('latin1').on('data', (text: string) => {
        received += text;
        if (answer !== '') socket.write(answer, 'latin1');
      });
    });
    const { port } = await listen(t, server);
    const { pool, codes } = openSecure(t, port, { connectMs: answer === '' ? 100 : 5000 });
    const sent = send(pool);
    t.same(await ended(sent), [['failed', 0, '']], what);
    t.match(codes[0], code, what);
    t.equal(sent.started, false);
    t.notMatch(received, '/v1/pets', 'no downgrade');
  }
});

t.test('nothing is negotiated twice', async (t) => {
  const service = await listenSecure(t, { ...pemOf(good), maxVersion: 'TLSv1.2' });
  const { pool } = openSecure(t, service.port);
  await ended(send(pool));
  let isNegotiated = false;
  service.sockets[0]!.renegotiate({}, (error) => (isNegotiated = error === null));
  await ended(send(pool));
  await ended(send(pool));
  t.equal(isNegotiated, false);
});
