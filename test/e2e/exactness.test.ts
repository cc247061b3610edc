import t from 'tap';
import type { Test } from 'tap';
import { startGateway, type Gateway } from '../servers/gateway.js';
import { startRedis } from '../servers/redis.js';
import { startUpstream, type Upstream } from '../servers/upstream.js';
import { openClient, type Client } from './client.js';
import { day, ledgerOf } from './ledger.js';

const REQUESTS = 400;
/** PETGATE_LONG=1 takes more. */
const REPETITIONS = process.env['PETGATE_LONG'] === '1' ? 20 : 4;
/** A repetition must not outlast the minute, or a second one opens and admits again. */
const LONGEST_MS = 50_000;
const ATTEMPTS = 3;

const ban = { after: 30 };
const PLANS = {
  free: { limits: { minute: 60, day: 1000 }, ban },
  daily: { limits: { minute: 500, day: 137 }, ban },
  anonymous: { limits: { minute: 300, day: 10_000 }, ban },
};
/** The machine may be busy: a verdict that comes late must not look like a store that is unavailable. */
const PATIENT = { deadline: '10s' };

interface Front {
  readonly gateways: readonly Gateway[];
  readonly clients: readonly Client[];
  readonly upstream: Upstream;
}

async function openFront(t: Test, count: number, environment: Readonly<Record<string, string>>): Promise<Front> {
  const upstream = await startUpstream(t);
  const config = { store: PATIENT, upstreams: { pets: { addresses: [upstream.url] } } };
  const gateways = await Promise.all(
    Array.from({ length: count }, () => startGateway(t, { plans: PLANS, config, environment })),
  );
  const clients = gateways.map(({ url }) => openClient(t, url, Math.ceil(REQUESTS / count)));
  return { gateways, clients, upstream };
}

/**
 * All requests at once on a fresh key, spread over the gateways. Told again when it met a midnight or took too long.
 */
async function volley(front: Front, plan: string, limit: number): Promise<string> {
  const { gateways, clients, upstream } = front;
  for (let attempt = 1; ; attempt += 1) {
    const { id, key } = await gateways[0]!.createKey({ plan });
    const beganMs = Date.now();
    upstream.seen.length = 0;
    const answers = await Promise.all(
      Array.from({ length: REQUESTS }, (_, n) => clients[n % clients.length]!.send(key)),
    );
    const tookMs = Date.now() - beganMs;
    if ((tookMs > LONGEST_MS || day(beganMs) !== day(Date.now())) && attempt < ATTEMPTS) continue;

    const admitted = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 429);
    const ledger = await ledgerOf(gateways.at(-1)!, id);
    const remaining = admitted.map(({ headers }) => Number(headers.get('x-ratelimit-remaining'))).sort((a, b) => b - a);
    const told = remaining.every((left, n) => left === limit - 1 - n)
      ? 'each remaining figure told once'
      : `remaining told: ${remaining.join()}`;
    return (
      `${admitted.length} × 200, ${refused.length} × 429, ${upstream.seen.length} forwarded, ledger ` +
      `${ledger.requests} + ${ledger.limited + ledger.banned}, ${told}`
    );
  }
}

async function repeat(t: Test, front: Front, plan: string, limit: number): Promise<void> {
  const wanted =
    `${limit} × 200, ${REQUESTS - limit} × 429, ${limit} forwarded, ledger ${limit} + ${REQUESTS - limit}, each ` +
    'remaining figure told once';
  let deviations = 0;
  const beganMs = performance.now();
  for (let repetition = 1; repetition <= REPETITIONS; repetition += 1) {
    const found = await volley(front, plan, limit);
    if (found !== wanted) deviations += 1;
    t.equal(found, wanted, `${plan}, repetition ${repetition}`);
  }
  t.comment(
    `${plan}: ${REPETITIONS} repetitions of ${REQUESTS} requests, ${deviations} deviations, ` +
      `${((performance.now() - beganMs) / 1000).toFixed(1)} s`,
  );
}

t.test('three gateways on one Redis admit exactly what the plan allows, and the ledger says so', async (t) => {
  const redis = await startRedis();
  t.teardown(() => redis.stop());
  const front = await openFront(t, 3, { REDIS_URL: redis.url });
  await repeat(t, front, 'free', 60);
  await repeat(t, front, 'daily', 137);
});

t.test('two workers on the embedded engine do as well', async (t) => {
  const front = await openFront(t, 1, { PETGATE_WORKERS: '2' });
  await repeat(t, front, 'free', 60);
  await repeat(t, front, 'daily', 137);
  const workers = new Set(
    front.gateways[0]!.program.lines()
      .filter(({ msg }) => msg === 'exchange')
      .map(({ pid }) => pid),
  );
  t.equal(workers.size, 2, 'both workers took part');
});
