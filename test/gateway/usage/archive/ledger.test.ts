import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import type { Test } from 'tap';
import type { UsageRow } from '../../../../src/gateway/store/records/counts.js';
import { petgate } from '../../../cli/programs.js';
import { ADMIN_TOKEN, startGateway, type Gateway } from '../../../servers/gateway.js';
import { NO_BAN } from '../../../servers/plans.js';
import { temporaryFolder } from '../../../servers/program.js';
import { redisFor } from '../../../servers/redis.js';
import { until } from '../../../servers/until.js';
import { startUpstream } from '../../../servers/upstream.js';
import { sendTraffic, type Caller } from '../traffic.js';

/** In all; half of them on each engine. PETGATE_LONG=1 takes the whole 100,000. */
const LONG = process.env['PETGATE_LONG'] === '1';
const REQUESTS = LONG ? 100_000 : 10_000;
const timeout = LONG ? 900_000 : 150_000;
t.setTimeout(timeout * 2);

const wide = { minute: 1_000_000, day: 1_000_000 };
const PLANS = {
  free: { limits: { minute: 60, day: 1000 }, ban: { after: 200 } },
  pro: { limits: { minute: 300, day: 10_000 }, ban: NO_BAN },
  business: { limits: wide, ban: NO_BAN },
  enterprise: { limits: 'custom', ban: NO_BAN },
  anonymous: { limits: wide, ban: NO_BAN },
};

t.test('embedded, one gateway', { timeout }, (t) => prove(t, 1, {}));
t.test('redis, two gateways', { timeout }, async (t) => {
  const redis = await redisFor(t);
  await prove(t, 2, { REDIS_URL: redis.url });
});

/** What clients saw = ledger = access log = counter, by key, plan and operation. */
async function prove(t: Test, gatewayCount: number, environment: Readonly<Record<string, string>>): Promise<void> {
  const upstream = await startUpstream(t);
  let answered = 0;
  upstream.handle = (_seen, response) => {
    upstream.seen.length = 0;
    answered += 1;
    response
      .writeHead(answered % 97 === 0 ? 500 : answered % 89 === 0 ? 404 : 200, { 'content-type': 'application/json' })
      .end('[]');
  };
  // What a deadline cuts off may or may not have been counted: none here, however busy the machine.
  const options = {
    plans: PLANS,
    config: { store: { deadline: '10s' } },
    environment: { ...environment, PETS_URL: upstream.url },
  };
  const gateways = await Promise.all(Array.from({ length: gatewayCount }, () => startGateway(t, options)));
  const [first] = gateways as [Gateway];
  await until('the store is there', async () => (await first.admin('GET', '/readyz')).status === 200);
  const callers: Caller[] = [];
  for (const plan of ['free', 'pro', 'business', 'enterprise', 'business', 'enterprise', 'free', 'pro', 'business']) {
    const made = await first.createKey({
      plan,
      ...(plan === 'enterprise' ? { limits: { minute: 'unlimited', day: 'unlimited' } } : {}),
    });
    callers.push({ ...made, plan });
  }
  const day = today();
  const startedMs = performance.now();
  const tally = await sendTraffic(
    gateways.map(({ url }) => url),
    callers,
    REQUESTS / 2,
    16,
  );
  t.comment(`${REQUESTS / 2} requests in ${Math.round(performance.now() - startedMs)} ms`);
  const last = today();

  const expected = [...tally].map(([name, seen]) => ({ name, ...seen })).sort((a, b) => (a.name < b.name ? -1 : 1));
  const ledger = async (): Promise<unknown[]> => {
    const { body } = await first.admin('GET', `/admin/v1/usage?from=${day}&to=${last}&by=key,plan,operation`);
    return (body as { rows: readonly UsageRow[] }).rows
      .map(({ key, plan, operation, requests, units, limited, banned, failed }) => ({
        name: [key, plan, operation].join('\t'),
        ...{ requests, units, limited, banned, failed },
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  };
  await until(
    'the last failures are counted',
    async () => JSON.stringify(await ledger()) === JSON.stringify(expected),
  ).catch(() => undefined);
  t.same(await ledger(), expected, 'the ledger is what clients saw, failures and refusals too');
  t.ok(
    expected.some(({ limited }) => limited > 0) &&
      expected.some(({ banned }) => banned > 0) &&
      expected.some(({ failed }) => failed > 0),
    'and there was some of everything',
  );
  t.same(
    new Set(expected.map(({ name }) => name.split('\t').slice(1).join(' '))).size,
    4 * 5,
    'all plans and operations',
  );

  const folder = temporaryFolder(t);
  const logs = gateways.map(({ program }, n) => {
    const file = join(folder, n === 0 ? `${n}.log` : `${n}.log.gz`);
    writeFileSync(file, n === 0 ? program.output() : gzipSync(program.output()));
    return file;
  });
  const metrics = gateways.map(({ adminUrl }) => `${adminUrl}/metrics`);
  const reconcile = (onDay: string) =>
    petgate(
      ['--admin-url', first.adminUrl, 'usage', 'reconcile', '--json', '--day', onDay]
        .concat('--access-log', ...logs)
        .concat('--metrics', ...metrics),
      { PATH: process.env['PATH'], PETGATE_ADMIN_TOKEN: ADMIN_TOKEN },
    );
  const admitted = expected.reduce((sum, { requests }) => sum + requests, 0);
  const proofs = await Promise.all((day === last ? [day] : [day, last]).map(reconcile));
  let logged = 0;
  for (const { code, stdout, stderr } of proofs) {
    t.equal(code, 0, stderr + stdout.slice(0, 2_000));
    const proof = JSON.parse(stdout) as {
      totals: { ledger: number; accessLog: number; counter: number };
      counterLeftOut: string | null;
    };
    t.equal(proof.totals.ledger, proof.totals.accessLog);
    t.equal(proof.totals.counter, admitted, 'petgate_admitted_total is what clients saw admitted');
    // A run over midnight leaves two days, against neither of which the counter can be held.
    if (day === last) t.equal(proof.counterLeftOut, null, 'the counter was compared, plan by plan');
    logged += proof.totals.accessLog;
  }
  t.equal(logged, admitted, 'ledger and access log are what clients saw admitted');
  t.comment(`admitted ${admitted}`);
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}
