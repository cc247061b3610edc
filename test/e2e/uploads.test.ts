import { readFileSync, writeFileSync } from 'node:fs';
import { request as ask } from 'node:http';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import t from 'tap';
import type { Test } from 'tap';
import { AMPLE_PLANS } from '../attacks/front.js';
import { type Issued, ownCertificate, pemOf } from '../servers/certificate.js';
import { startGateway, type Gateway } from '../servers/gateway.js';
import { openHttp2 } from '../servers/http2.js';
import { temporaryFolder } from '../servers/program.js';
import { readAll, startTaker, type Taker } from '../servers/taker.js';
import { until } from '../servers/until.js';
import { ledgerOf } from './ledger.js';

const MIB = 2 ** 20;
const SIZE = 64 * MIB;
const PIECE = Buffer.alloc(256 * 1024, 'x');
/** What systems hold between two programs, and pieces on their way. A body that was gathered would be all of it. */
const ON_ITS_WAY = 24 * MIB;

interface Stage {
  readonly gateway: Gateway;
  readonly taker: Taker;
  readonly key: string;
  readonly keyId: string;
}

async function stage(t: Test, tls: Issued | null, isSecureUpstream: boolean): Promise<Stage> {
  const issued = ownCertificate(t);
  const taker = await startTaker(t, isSecureUpstream ? pemOf(issued) : undefined);
  const secure = isSecureUpstream ? { ca: issued.cert, servername: 'localhost' } : {};
  const gateway = await startGateway(t, {
    plans: AMPLE_PLANS,
    ...(tls === null ? {} : { tls }),
    config: { limits: { body_size: '1GiB' }, upstreams: { pets: { addresses: [taker.url], ...secure } } },
  });
  const { id, key } = await gateway.createKey({ plan: 'free' });
  return { gateway, taker, key: `Bearer ${key}`, keyId: id };
}

interface Sending {
  sent: number;
  status: number;
}

/** Writes all of it as fast as it is taken. */
function sendAll(out: Writable, sending: Sending): void {
  const go = (): void => {
    while (sending.sent < SIZE) {
      sending.sent += PIECE.length;
      if (!out.write(PIECE)) {
        out.once('drain', go);
        return;
      }
    }
    out.end();
  };
  go();
}

function overHttp1({ gateway, key }: Stage, framing: Readonly<Record<string, string>>): Sending {
  const sending: Sending = { sent: 0, status: 0 };
  const headers = { authorization: key, 'content-type': 'application/json', ...framing };
  const out = ask({ host: '127.0.0.1', port: gateway.port, method: 'POST', path: '/v1/pets', headers });
  out.on('response', (answer) => {
    sending.status = answer.statusCode ?? 0;
    answer.resume();
  });
  sendAll(out, sending);
  return sending;
}

function overHttp2(t: Test, { gateway, key }: Stage): Sending {
  const sending: Sending = { sent: 0, status: 0 };
  const stream = openHttp2(t, gateway.target).begin({ method: 'POST', key }, false);
  stream.on('response', (fields) => (sending.status = Number(fields[':status']))).resume();
  sendAll(stream, sending);
  return sending;
}

const peakMiB = ({ program }: Gateway): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${program.pid}/status`, 'utf8'))?.[1]) / 1024;

const LENGTH = { 'content-length': String(SIZE) };
const CHUNKED = { 'transfer-encoding': 'chunked' };

for (const [name, isHttp2, isSecureUpstream, framing] of [
  ['HTTP/1.1 with a length', false, false, LENGTH],
  ['HTTP/1.1 in chunks, to an https upstream', false, true, CHUNKED],
  ['HTTP/2 over TLS', true, false, {}],
] as const)
  t.test(`64 MiB: an upstream that is slow makes its client wait, and little is held (${name})`, async (t) => {
    const at = await stage(t, isHttp2 ? ownCertificate(t) : null, isSecureUpstream);
    const { gateway, taker, keyId } = at;
    taker.begin = () => undefined;
    const beforeMiB = peakMiB(gateway);
    const sending = isHttp2 ? overHttp2(t, at) : overHttp1(at, framing);
    await until('it began at the upstream', () => taker.taken.length === 1);
    let [last, still] = [-1, 0];
    await until('nothing more is taken, however often one looks', () => {
      still = sending.sent === last ? still + 1 : 0;
      last = sending.sent;
      return still === 20;
    });
    t.ok(sending.sent < ON_ITS_WAY, `${sending.sent / MIB} MiB were taken from the client`);
    const [taken] = taker.taken;
    readAll(taken!);
    await until('it is served', () => sending.status === 200, 120_000);
    t.equal(taken!.bytes, SIZE);
    t.equal(taken!.request.headers['content-length'], framing === LENGTH ? String(SIZE) : undefined);
    const grown = peakMiB(gateway) - beforeMiB;
    t.ok(grown < SIZE / MIB, `${grown.toFixed(0)} MiB more at its peak`);
    t.match(await ledgerOf(gateway, keyId), { requests: 1, failed: 0 });
    const line = (): Record<string, unknown> | undefined =>
      gateway.program.lines().find(({ msg, operation }) => msg === 'exchange' && operation === 'createPet');
    await until('it is in the log', () => line() !== undefined);
    t.match(line(), { status: 200, bytesIn: SIZE, counted: true, outcome: 'admitted' });
  });

t.test('an operation may take larger bodies than others, or smaller ones, by its policy', async (t) => {
  const taker = await startTaker(t);
  const overlay = join(temporaryFolder(t), 'policy.json');
  const actions = [{ target: "$.paths['/pets'].post", update: { 'x-petgate': { body_size: '200KiB' } } }];
  writeFileSync(overlay, JSON.stringify({ overlay: '1.0.0', actions }));
  const gateway = await startGateway(t, {
    plans: AMPLE_PLANS,
    config: {
      limits: { body_size: '1KiB' },
      overlays: [overlay],
      upstreams: { pets: { addresses: [taker.url] } },
    },
  });
  const { key } = await gateway.createKey({ plan: 'free' });
  const post = async (bytes: number): Promise<number> =>
    (
      await fetch(`${gateway.url}/v1/pets`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: Buffer.alloc(bytes, 'x'),
      })
    ).status;
  t.equal(await post(200 * 1024), 200);
  t.equal(await post(200 * 1024 + 1), 413);
  t.equal(taker.taken.length, 1);
});
