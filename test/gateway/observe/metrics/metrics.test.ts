import { spawnSync } from 'node:child_process';
import t from 'tap';
import { scrape, type Exposition } from '../../../servers/exposition.js';
import { startGateway, type Gateway } from '../../../servers/gateway.js';
import { startUpstream } from '../../../servers/upstream.js';

/** A plan whose figures are small enough to count by hand. */
const plan = (minute: number, day: number): object => ({
  limits: { minute, day },
  refill: 'interval',
  ban: { after: 3 },
});
const PLANS = { small: plan(10, 20), own: { ...plan(1, 1), limits: 'custom' }, anonymous: plan(5, 100) };

async function ask(gateway: Gateway, key: string | null, times: number, path = '/v1/pets'): Promise<void> {
  for (let index = 0; index < times; index += 1) {
    await (
      await fetch(gateway.url + path, { headers: key === null ? {} : { authorization: `Bearer ${key}` } })
    ).arrayBuffer();
  }
}

/** The family's series that are not 0, as `a/b value`. */
function counted(exposition: Exposition, name: string): readonly string[] {
  return exposition.series
    .filter((one) => one.name === name && one.value !== 0)
    .map(({ labels, value }) => `${Object.values(labels).join('/')} ${value}`)
    .sort();
}

t.test('what clients meet is what is counted: admitted, near the limit, limited, banned, refused', async (t) => {
  const upstream = await startUpstream(t);
  const gateway = await startGateway(t, { plans: PLANS, environment: { PETS_URL: upstream.url } });
  const { key } = await gateway.createKey({ plan: 'small' });
  await ask(gateway, key, 15);
  await ask(gateway, null, 2);
  const metrics = await scrape(gateway.adminUrl);
  t.strictSame(counted(metrics, 'petgate_admitted_total'), ['small/listPets 10']);
  t.strictSame(counted(metrics, 'petgate_near_limit_total'), ['small/minute 2'], 'with 1 and with 0 of 10 left');
  t.strictSame(counted(metrics, 'petgate_limited_total'), ['small/minute 2']);
  t.strictSame(counted(metrics, 'petgate_banned_total'), ['small 3'], 'the refusal that starts the ban is one of them');
  t.strictSame(counted(metrics, 'petgate_bans_started_total'), ['small 1']);
  t.strictSame(counted(metrics, 'petgate_bans_active'), ['key 1']);
  t.strictSame(counted(metrics, 'petgate_refusals_total'), ['key_banned 3', 'missing_api_key 2', 'rate_limited 2']);
  t.strictSame(counted(metrics, 'petgate_requests_total'), ['listPets/2xx 10', 'listPets/4xx 7']);
  t.equal(metrics.value('petgate_request_duration_seconds_count', { operation: 'listPets' }), 17);
  t.equal(metrics.value('petgate_upstream_duration_seconds_count', { upstream: 'pets' }), 10);
  t.equal(metrics.value('petgate_admission_batch_requests_sum'), 17, 'every request went through a batch');
  t.equal(metrics.value('petgate_store_up', { engine: 'embedded' }), 1);
  const key2 = await gateway.createKey({ plan: 'small' });
  await ask(gateway, key2.key, 1, '/v1/nothing');
  upstream.handle = (_seen, response) => response.writeHead(500).end();
  await ask(gateway, key2.key, 3);
  const after = await scrape(gateway.adminUrl);
  t.equal(after.value('petgate_admitted_total', { plan: 'small', operation: 'unmatched' }), 1);
  t.equal(after.value('petgate_upstream_errors_total', { upstream: 'pets' }), 3);
  t.equal(after.value('petgate_upstream_addresses', { upstream: 'pets' }), 1);
});

t.test('units are counted by what the plan makes an operation cost', async (t) => {
  const upstream = await startUpstream(t);
  const gateway = await startGateway(t, {
    plans: { ...PLANS, small: { ...plan(100, 200), operations: { listPets: { cost: 7 } } } },
    environment: { PETS_URL: upstream.url },
  });
  const { key } = await gateway.createKey({ plan: 'small' });
  await ask(gateway, key, 3);
  await ask(gateway, key, 2, '/v1/nothing');
  const metrics = await scrape(gateway.adminUrl);
  t.strictSame(counted(metrics, 'petgate_admitted_units_total'), ['small/listPets 21', 'small/unmatched 2']);
  t.strictSame(counted(metrics, 'petgate_admitted_total'), ['small/listPets 3', 'small/unmatched 2']);
});

t.test('day quota: each admission tells the share used; a day without limit is left out', async (t) => {
  const upstream = await startUpstream(t);
  const gateway = await startGateway(t, { plans: PLANS, environment: { PETS_URL: upstream.url } });
  const limited = await gateway.createKey({ plan: 'own', limits: { minute: 'unlimited', day: 10 } });
  const free = await gateway.createKey({ plan: 'own', limits: { minute: 'unlimited', day: 'unlimited' } });
  await ask(gateway, limited.key, 10);
  await ask(gateway, free.key, 5);
  const metrics = await scrape(gateway.adminUrl);
  const upTo = (le: string): number => metrics.value('petgate_day_quota_used_ratio_bucket', { plan: 'own', le });
  t.strictSame([upTo('0.1'), upTo('0.5'), upTo('0.9'), upTo('1'), upTo('+Inf')], [1, 5, 9, 10, 10]);
  t.equal(metrics.value('petgate_near_limit_total', { plan: 'own', window: 'day' }), 2);
  t.equal(metrics.value('petgate_near_limit_total', { plan: 'own', window: 'minute' }), 0, 'no limit is never near');
  t.equal(metrics.value('petgate_admitted_total', { plan: 'own', operation: 'listPets' }), 15);
});

t.test('how full it is: exchanges, connections, upstream', async (t) => {
  const upstream = await startUpstream(t);
  const gateway = await startGateway(t, {
    environment: { PETS_URL: upstream.url },
    config: { limits: { exchanges: 2 }, upstreams: { pets: { connections: 1 } } },
  });
  const { key } = await gateway.createKey({ plan: 'pro' });
  const finish: (() => void)[] = [];
  upstream.handle = (_seen, response) => finish.push(() => response.end('[]'));
  const first = ask(gateway, key, 1);
  const second = ask(gateway, key, 1);
  let metrics = await scrape(gateway.adminUrl);
  while (metrics.value('petgate_upstream_queued') !== 1) metrics = await scrape(gateway.adminUrl);
  await ask(gateway, key, 1);
  metrics = await scrape(gateway.adminUrl);
  t.equal(metrics.value('petgate_exchanges_in_flight'), 2);
  t.equal(metrics.value('petgate_exchanges_limit'), 2);
  t.equal(metrics.value('petgate_refusals_total', { code: 'overloaded' }), 1);
  t.equal(metrics.value('petgate_upstream_in_flight', { upstream: 'pets' }), 2);
  t.equal(metrics.value('petgate_upstream_connections', { upstream: 'pets' }), 1);
  t.ok(metrics.value('petgate_connections') >= 2, `${metrics.value('petgate_connections')} connections`);
  finish[0]?.();
  await first;
  while (finish.length < 2) await scrape(gateway.adminUrl);
  finish[1]?.();
  await second;
  metrics = await scrape(gateway.adminUrl);
  t.equal(metrics.value('petgate_exchanges_in_flight'), 0);
  t.equal(metrics.value('petgate_upstream_queued'), 0);
});

t.test('keys, names and addresses make no series: 500 keys are as many as 10', async (t) => {
  const upstream = await startUpstream(t);
  const gateway = await startGateway(t, { environment: { PETS_URL: upstream.url } });
  const keys: string[] = [];
  const use = async (count: number): Promise<readonly string[]> => {
    while (keys.length < count)
      keys.push(
        ...(await Promise.all(Array.from({ length: 10 }, () => gateway.createKey({ plan: 'pro' })))).map(
          ({ key }) => key,
        ),
      );
    for (let from = 0; from < keys.length; from += 50)
      await Promise.all(keys.slice(from, from + 50).map((key) => ask(gateway, key, 1)));
    return (await scrape(gateway.adminUrl)).series.map(({ name, labels }) => name + JSON.stringify(labels));
  };
  const few = await use(10);
  const many = await use(500);
  t.strictSame(many, few);
  t.ok(few.length < 700, `${few.length} series`);
  const { text } = await scrape(gateway.adminUrl);
  t.notMatch(text, /ptg_|127\.0\.0\.1|\/v1/);
});

t.test('promtool has nothing to say about our metrics', async (t) => {
  const gateway = await startGateway(t, { environment: { PETGATE_WORKERS: '2' } });
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
    input: (await scrape(gateway.adminUrl)).text,
    encoding: 'utf8',
  });
  t.strictSame({ status, said: stdout + stderr }, { status: 0, said: '' });
});
