import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import type { Test } from 'tap';
import { ownCertificate } from '../../servers/certificate.js';
import { startGateway, type Gateway, type GatewayOptions } from '../../servers/gateway.js';
import { openHttp2 } from '../../servers/http2.js';
import { exchangeRaw } from '../../servers/raw.js';
import { AMPLE_PLANS, request } from '../front.js';
import { OK, startRawUpstream, type RawUpstream } from '../raw-upstream.js';
import { FLOODS } from './floods.js';
import { isRushing, THINGS } from './things.js';

const isLong = process.env['PETGATE_LONG'] === '1';
const EVERY_MS = 100;
/** Of each thing: a second, or ten. */
const ASKED = isLong ? 100 : 10;
/** So many times what it waits beside an ordinary client that is as busy: a stall of seconds is hundreds of times. */
const MULTIPLE = 20;
/**
 * Next to a client that never waits for anything: it keeps the listener's queue of 511 connections full, where the
 * ordinary client has 16, and takes a processor from the gateway. On two busy processors that is up to 150 times; a
 * stall of seconds is a thousand times.
 */
const MULTIPLE_RUSHING = 400;
/** Another program may have had the processors during a comparison: one of so many has to hold. */
const ATTEMPTS = 8;
const STREAM = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n';

/** An upstream that does what X-Do says. */
async function obedient(t: Test): Promise<RawUpstream> {
  const upstream = await startRawUpstream(t);
  upstream.handle = (socket, head) => {
    switch (/^x-do: (\S+)/im.exec(head)?.[1] ?? '') {
      case 'hang':
        return;
      case 'panic':
        socket.destroy();
        return;
      case 'unreadable':
        socket.write(OK.replace('Content-Length: 2', 'Content-Length: 2\r\nContent-Length: 2'));
        return;
      case 'long-head':
        socket.write(OK.replace('Content-Type', `X-Long: ${'x'.repeat(20_000)}\r\nContent-Type`));
        return;
      case 'large':
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n${'x'.repeat(1_000_000)}`);
        return;
      case 'stream':
        socket.write(STREAM);
        return;
      case 'drip':
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nx');
        return;
      default:
        socket.write(OK);
    }
  };
  return upstream;
}

interface Stage {
  readonly gateway: Gateway;
  /** Of the attacker. */
  readonly key: string;
  /** A request of the other client; its status. */
  readonly ask: () => Promise<number>;
}

async function stage(t: Test, options: GatewayOptions): Promise<Stage> {
  const upstream = await obedient(t);
  const gateway = await startGateway(t, {
    ...options,
    plans: AMPLE_PLANS,
    config: {
      cors: { origins: ['https://*.example.com'] },
      upstreams: { pets: { addresses: [upstream.url], deadline: '10s' } },
      log: { access: false },
    },
  });
  const [key, other] = await Promise.all([1, 2].map(async () => (await gateway.createKey({ plan: 'free' })).key));
  const field = `Authorization: Bearer ${other!}`;
  if (options.tls === undefined) {
    const ask = async (): Promise<number> =>
      (await exchangeRaw(gateway.target, request('GET /v1/pets', field), 1))[0]?.status ?? 0;
    return { gateway, key: key!, ask };
  }
  const client = openHttp2(t, gateway.target);
  return { gateway, key: key!, ask: async () => (await client.send({ key: field })).status };
}

/** What the other client waits, ms, the median; and its statuses. */
async function beside({ gateway, key, ask }: Stage, name: string): Promise<{ waitMs: number; statuses: number[] }> {
  const thread = new Worker(new URL('./thread.js', import.meta.url), {
    workerData: { name, target: gateway.target, key },
  });
  await new Promise((resolve) => thread.once('message', resolve));
  const asked: Promise<readonly [number, number]>[] = [];
  for (let n = 0; n < ASKED; n += 1) {
    const beganMs = performance.now();
    asked.push(
      ask().then(
        (status) => [status, performance.now() - beganMs] as const,
        () => [0, performance.now() - beganMs] as const,
      ),
    );
    await delay(EVERY_MS);
  }
  const results = await Promise.all(asked);
  await thread.terminate();
  const waits = results.map(([, waitMs]) => waitMs).sort((one, other) => one - other);
  return { waitMs: waits[Math.floor(waits.length / 2)]!, statuses: results.map(([status]) => status) };
}

for (const [over, ordinary, names, secured] of [
  ['HTTP/1.1', 'ordinary', Object.keys(THINGS), false],
  ['HTTP/2', 'an ordinary client of HTTP/2', Object.keys(FLOODS).slice(1), true],
] as const)
  t.test(`${over}: whatever one client does, another gets only 200s and waits little longer`, async (t) => {
    const staged = await stage(t, secured ? { tls: ownCertificate(t) } : {});
    for (let n = 0; n < 20; n += 1) await staged.ask();
    let usual = await beside(staged, ordinary);
    for (const name of names) {
      const most = isRushing(name) ? MULTIPLE_RUSHING : MULTIPLE;
      let times = Infinity;
      for (let attempt = 0; attempt < ATTEMPTS && times > most; attempt += 1) {
        if (attempt > 0) usual = await beside(staged, ordinary);
        const { waitMs, statuses } = await beside(staged, name);
        t.strictSame([...new Set(statuses)], [200], name);
        times = Math.min(times, waitMs / usual.waitMs);
        // What is left of it is no part of what comes next.
        await staged.ask();
      }
      t.ok(times <= most, `${name}: ${times.toFixed(1)} times`);
    }
  });
