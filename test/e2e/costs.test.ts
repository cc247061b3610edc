import t from 'tap';
import type { Test } from 'tap';
import { startGateway, type Gateway } from '../servers/gateway.js';
import { NO_BAN } from '../servers/plans.js';
import { startRedis } from '../servers/redis.js';
import { until } from '../servers/until.js';
import { startUpstream } from '../servers/upstream.js';
import { openClient } from './client.js';
import { day, ledgerOf } from './ledger.js';

const REQUESTS = 400;
/** PETGATE_LONG=1 takes more. */
const REPETITIONS = process.env['PETGATE_LONG'] === '1' ? 5 : 2;
const ADMITTED = 8;
const UNITS = 56;
/** Longer, and a second minute opens and admits again. */
const LONGEST_MS = 50_000;
const ATTEMPTS = 3;

const operations = { listPets: { cost: 7 } };
const PLANS = {
  dear: { limits: { minute: 60, day: 1_000 }, ban: NO_BAN, operations },
  monthly: { limits: { minute: 100_000, day: 100_000, month: 60 }, ban: NO_BAN, operations },
  single: {
    limits: { minute: 100_000, day: 100_000, month: 100_000 },
    ban: NO_BAN,
    operations: { listPets: { cost: 7, day: 60 }, createPet: { minute: 3 } },
  },
  anonymous: { limits: { minute: 300, day: 10_000 }, ban: NO_BAN },
};

async function gatewaysOf(t: Test, count: number, environment: Readonly<Record<string, string>>) {
  const upstream = await startUpstream(t);
  const config = { store: { deadline: '10s' }, upstreams: { pets: { addresses: [upstream.url] } } };
  const gateways = await Promise.all(
    Array.from({ length: count }, () => startGateway(t, { plans: PLANS, config, environment })),
  );
  return { gateways, clients: gateways.map(({ url }) => openClient(t, url, Math.ceil(REQUESTS / count))) };
}
type Front = Awaited<ReturnType<typeof gatewaysOf>>;

/** What the access logs of all gateways say of a key. */
function logOf(gateways: readonly Gateway[], id: string): { readonly requests: number; readonly units: number } {
  const lines = gateways
    .flatMap(({ program }) => program.lines())
    .filter(({ msg, key, counted }) => msg === 'exchange' && key === id && counted === true);
  return { requests: lines.length, units: lines.reduce((sum, { units }) => sum + Number(units), 0) };
}

/** All requests at once on a fresh key, spread over the gateways. Once more when it met a midnight or took too long. */
async function volley({ gateways, clients }: Front, plan: string): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const { id, key } = await gateways[0]!.createKey({ plan });
    const beganMs = Date.now();
    const answers = await Promise.all(
      Array.from({ length: REQUESTS }, (_, n) => clients[n % clients.length]!.send(key)),
    );
    if ((Date.now() - beganMs > LONGEST_MS || day(beganMs) !== day(Date.now())) && attempt < ATTEMPTS) continue;
    const admitted = answers.filter(({ status }) => status === 200).length;
    const { requests, units } = await ledgerOf(gateways.at(-1)!, id);
    await until('the access log has all', () => Promise.resolve(logOf(gateways, id).requests >= requests));
    const log = logOf(gateways, id);
    return `${admitted} admitted, ledger ${requests} of ${units} units, access log ${log.requests} of ${log.units}`;
  }
}

async function prove(t: Test, front: Front): Promise<void> {
  const wanted = `${ADMITTED} admitted, ledger ${ADMITTED} of ${UNITS} units, access log ${ADMITTED} of ${UNITS}`;
  for (const plan of ['dear', 'monthly', 'single'])
    for (let repetition = 1; repetition <= REPETITIONS; repetition += 1)
      t.equal(await volley(front, plan), wanted, `${plan}, repetition ${repetition}`);
}

t.test(`${REQUESTS} requests of cost 7 at once, on four gateways: what 60 units pay for, and no more`, async (t) => {
  const redis = await startRedis();
  t.teardown(() => redis.stop());
  await prove(t, await gatewaysOf(t, 4, { REDIS_URL: redis.url }));
});

t.test('two workers on the embedded engine do as well', async (t) => {
  await prove(t, await gatewaysOf(t, 1, { PETGATE_WORKERS: '2' }));
});

t.test('the headers list every window that holds, and the own usage every window there is', async (t) => {
  const { gateways, clients } = await gatewaysOf(t, 1, {});
  const { key } = await gateways[0]!.createKey({ plan: 'single' });
  const answer = await clients[0]!.send(key);
  t.match(
    answer.headers.get('ratelimit'),
    /^"minute";r=99993;t=\d+, "day";r=99993;t=\d+, "month";r=99993;t=\d+, "listPets-day";r=53;t=\d+$/,
  );
  t.match(
    answer.headers.get('ratelimit-policy'),
    /"month";q=100000;w=(2419200|2505600|2592000|2678400), "listPets-day";q=60;w=86400$/,
  );
  t.equal(answer.headers.get('x-ratelimit-limit'), '60', 'the window that refuses first');
  t.equal(answer.headers.get('x-ratelimit-remaining'), '53');
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
});
