import t from 'tap';
import type { Test } from 'tap';
import { NO_BAN } from '../servers/plans.js';
import { redisFor } from '../servers/redis.js';
import { until } from '../servers/until.js';
import { ledgerOf } from './ledger.js';
import { logged, openFront, REQUESTS, volley, type Front } from './volley.js';

/** PETGATE_LONG=1 takes more. */
const REPETITIONS = process.env['PETGATE_LONG'] === '1' ? 20 : 2;
const ban = { after: 30 };
const operations = { listPets: { cost: 7 } };
const PLANS = {
  free: { limits: { minute: 60, day: 1000 }, ban },
  daily: { limits: { minute: 500, day: 137 }, ban },
  dear: { limits: { minute: 60, day: 1_000 }, ban, operations },
  monthly: { limits: { minute: 100_000, day: 100_000, month: 60 }, ban: NO_BAN, operations },
  single: {
    limits: { minute: 100_000, day: 100_000, month: 100_000 },
    ban: NO_BAN,
    operations: { listPets: { cost: 7, day: 60 }, createPet: { minute: 3 } },
  },
  anonymous: { limits: { minute: 300, day: 10_000 }, ban },
};
/** Of each plan the limit that is spent first, and what a request costs. */
const SPENT: Readonly<Record<string, readonly [limit: number, cost: number]>> = {
  free: [60, 1],
  daily: [137, 1],
  dear: [60, 7],
  monthly: [60, 7],
  single: [60, 7],
};

/** What became of all requests at once on a fresh key, spread over the gateways. */
async function outcome(front: Front, plan: string, limit: number, cost: number): Promise<string> {
  const { gateways, clients, upstream } = front;
  const { made, answers } = await volley(
    () => {
      upstream.seen.length = 0;
      return gateways[0]!.createKey({ plan });
    },
    ({ key }, n) => clients[n % clients.length]!.send(key),
  );
  const admitted = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ status }) => status === 429);
  const ledger = await ledgerOf(gateways.at(-1)!, made.id);
  await until('the access log has all', () => logged(front, made.id).requests >= ledger.requests);
  const log = logged(front, made.id);
  const remaining = admitted.map(({ headers }) => Number(headers.get('x-ratelimit-remaining'))).sort((a, b) => b - a);
  const told = remaining.every((left, n) => left === limit - cost * (n + 1))
    ? 'each remaining figure told once'
    : `remaining told: ${remaining.join()}`;
  return (
    `${admitted.length} × 200, ${refused.length} × 429, ${upstream.seen.length} forwarded, ledger ` +
    `${ledger.requests} of ${ledger.units} units + ${ledger.limited + ledger.banned}, access log ${log.requests} of ` +
    `${log.units}, ${told}`
  );
}

async function prove(t: Test, front: Front): Promise<void> {
  for (const [plan, [limit, cost]] of Object.entries(SPENT)) {
    const admitted = Math.floor(limit / cost);
    const all = `${admitted} of ${admitted * cost}`;
    const wanted =
      `${admitted} × 200, ${REQUESTS - admitted} × 429, ${admitted} forwarded, ledger ${all} units + ` +
      `${REQUESTS - admitted}, access log ${all}, each remaining figure told once`;
    for (let repetition = 1; repetition <= REPETITIONS; repetition += 1)
      t.equal(await outcome(front, plan, limit, cost), wanted, `${plan}, repetition ${repetition}`);
  }
}

t.test('four gateways on one Redis admit exactly what the plan pays for, and the ledger says so', async (t) => {
  const redis = await redisFor(t);
  await prove(t, await openFront(t, 4, PLANS, { REDIS_URL: redis.url }));
});

t.test('two workers on the embedded engine do as well', async (t) => {
  const front = await openFront(t, 1, PLANS, { PETGATE_WORKERS: '2' });
  await prove(t, front);
  const lines = front.gateways[0]!.exchanges();
  t.equal(new Set(lines.map(({ pid }) => pid)).size, 2, 'both workers took part');
  await t.test('the headers list every window that holds, and the own usage every window there is', (t) =>
    listsEveryWindow(t, front),
  );
});

async function listsEveryWindow(t: Test, { gateways, clients }: Front): Promise<void> {
  const { key } = await gateways[0]!.createKey({ plan: 'single' });
  const { headers } = await clients[0]!.send(key);
  t.match(
    headers.get('ratelimit'),
    /^"minute";r=99993;t=\d+, "day";r=99993;t=\d+, "month";r=99993;t=\d+, "listPets-day";r=53;t=\d+$/,
  );
  t.match(
    headers.get('ratelimit-policy'),
    /"month";q=100000;w=(2419200|2505600|2592000|2678400), "listPets-day";q=60;w=86400$/,
  );
  t.equal(headers.get('x-ratelimit-limit'), '60', 'the window that refuses first');
  t.equal(headers.get('x-ratelimit-remaining'), '53');
  const usage = JSON.parse((await clients[0]!.send(key, { path: '/v1/usage' })).body) as {
    windows: Record<string, { limit: number; remaining: number }>;
    today: object;
  };
  t.same(
    Object.entries(usage.windows).map(([name, { limit, remaining }]) => [name, limit, remaining]),
    [
      ['minute', 100_000, 99_993],
      ['day', 100_000, 99_993],
      ['month', 100_000, 99_993],
      ['listPets-day', 60, 53],
      ['createPet-minute', 3, 3],
    ],
  );
  t.match(usage.today, { requests: 1, units: 7 });
}
