import { parser } from '@prometheus-io/lezer-promql';
import t from 'tap';
import { openClient, type Client } from '../e2e/client.js';
import { issueCertificate } from '../servers/certificate.js';
import { startGateway, type Gateway } from '../servers/gateway.js';
import { startPets } from '../servers/pets.js';
import { temporaryFolder } from '../servers/program.js';
import { startPrometheus, type Sample } from '../servers/prometheus.js';
import { exchangeRaw } from '../servers/raw.js';
import { startRedis } from '../servers/redis.js';
import { until } from '../servers/until.js';
import { dashboards } from './panels.js';
import { allRules } from './rule-files.js';

const SCRAPE_MS = 500;
/** Nothing listens there: what a move that fails shows is enough. */
const NOWHERE = 'postgres://127.0.0.1:1/ledger';
/** What Grafana would put in for a dashboard that shows the last minute. */
const WINDOWS = { $__rate_interval: '5s', $__range: '1m' };

const plan = (minute: number, day: number): object => ({ limits: { minute, day }, ban: { after: 3 } });
const PLANS = {
  free: plan(5, 1000),
  business: plan(1000, 8),
  enterprise: { ...plan(1, 1), limits: 'custom' },
  anonymous: plan(1000, 1000),
};

/** One round of everything clients do: good, wrong, too much, banned, broken. */
async function round(
  gateway: Gateway,
  client: Client,
  keys: Readonly<Record<'free' | 'business' | 'enterprise', string>>,
): Promise<void> {
  const ask = (
    key: string | null,
    method: 'GET' | 'POST' | 'OPTIONS' = 'GET',
    path = '/v1/pets',
    body?: string,
  ): Promise<unknown> => client.send(key, { method, path, ...(body === undefined ? {} : { body }) });
  const { free, business, enterprise } = keys;
  await Promise.all([
    ask(free),
    ask(free, 'GET', '/v1/pets/1'),
    ask(business),
    ask(null),
    ask('ptg_wrong'),
    ask(enterprise, 'POST', '/v1/pets', '{"name":"Rex","categoryId":1}'),
    ask(enterprise, 'GET', '/v1/nothing'),
    ask(enterprise, 'GET', '/v1/store/orders'),
    ask(enterprise, 'OPTIONS'),
    exchangeRaw(gateway.target, 'GET / HTTP/3.0\r\nHost: x\r\n\r\n'),
  ]);
}

/** Every `metric{labels}` that an expression reads. */
function selectorsOf(expr: string): readonly string[] {
  const found: string[] = [];
  parser.parse(expr).iterate({
    enter: ({ name, from, to }) => {
      if (name === 'VectorSelector') found.push(expr.slice(from, to));
    },
  });
  return found;
}

t.test(
  'a real Prometheus, a real gateway, real traffic: every panel and every alert asks for what is there',
  async (t) => {
    const pets = await startPets(t);
    const tls = issueCertificate(temporaryFolder(t), 'own');
    const redis = await startRedis();
    t.teardown(() => redis.stop());
    // A Redis that nobody used yet is taken for a new one only if the archive can be asked.
    await (await startGateway(t, { environment: { REDIS_URL: redis.url } })).program.stop();
    // The deadline is none of this test's business, and a busy machine may miss the usual one.
    const gateway = await startGateway(t, {
      plans: PLANS,
      tls,
      config: { store: { deadline: '5s', archive: NOWHERE } },
      environment: {
        PETS_URL: pets.url,
        PETGATE_WORKERS: '2',
        REDIS_URL: redis.url,
        PETGATE_EVENTS_URL: 'https://127.0.0.1:1/',
        PETGATE_EVENTS_ALLOW_LOCAL: 'true',
        PETGATE_EVENTS_SECRET: `whsec_${Buffer.alloc(32).toString('base64')}`,
      },
    });
    const keyOf = async (fields: Record<string, unknown>): Promise<string> => (await gateway.createKey(fields)).key;
    const keys = {
      free: await keyOf({ plan: 'free' }),
      business: await keyOf({ plan: 'business' }),
      enterprise: await keyOf({ plan: 'enterprise', limits: { minute: 'unlimited', day: 5000 } }),
    };
    const prometheus = await startPrometheus(t, { petgate: gateway.adminUrl, 'petgate-pets': pets.url }, SCRAPE_MS);
    // What was counted before the first scrape no rate can see.
    await until('it scraped the gateway', async () => (await prometheus.query('petgate_info')).length > 0);
    const client = openClient(t, gateway.url, 10, tls.ca);
    const stop = new AbortController();
    const traffic = (async () => {
      while (!stop.signal.aborted) await round(gateway, client, keys);
    })();
    t.teardown(() => {
      stop.abort();
      return traffic;
    });
    await until(
      'rates can be had and every rule was evaluated',
      async () => {
        const rules = await prometheus.rules();
        const [rate] = await prometheus.query('sum(rate(petgate_requests_total[5s]))');
        const [recorded] = await prometheus.query('petgate:failed:rate6h / petgate:judged:rate6h');
        return (
          (rate?.value ?? 0) > 0 &&
          recorded !== undefined &&
          rules.length > 0 &&
          rules.every(({ lastEvaluation }) => !lastEvaluation.startsWith('0001'))
        );
      },
      20_000,
    );

    t.test('every query of every panel gives figures', async (t) => {
      for (const { title, panels } of dashboards()) {
        for (const { title: panel, targets } of panels) {
          for (const { expr, legendFormat } of targets) {
            const asked = Object.entries(WINDOWS).reduce((text, [name, window]) => text.replaceAll(name, window), expr);
            t.notMatch(asked, /\$/, 'nothing that only Grafana knows is left');
            // A series that began a moment ago gives a rate only after its second scrape.
            let samples: readonly Sample[] = [];
            const gives = async (): Promise<boolean> =>
              (samples = await prometheus.query(asked)).some(({ value }) => Number.isFinite(value));
            await t.resolves(
              until('it gives a figure', gives, 10 * SCRAPE_MS),
              `${title}, ${panel}, ${legendFormat}: ${asked}`,
            );
            const labels = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
            t.ok(
              samples.every(({ metric }) => labels.every((label) => metric[label] !== undefined)),
              `${panel}: the legend's labels ${labels.join(', ')} are there`,
            );
          }
        }
      }
    });

    t.test('every series an alert reads is there, and every rule was evaluated without an error', async (t) => {
      for (const { name, health, lastError } of await prometheus.rules())
        t.equal(health, 'ok', `${name}: ${lastError ?? 'evaluated'}`);
      for (const { alert, record, expr } of allRules()) {
        const selectors = selectorsOf(expr);
        t.ok(selectors.length > 0, expr);
        for (const selector of selectors) {
          // A scrape that took too long, as on a busy machine, ends every series until the next.
          const isThere = async (): Promise<boolean> => (await prometheus.query(selector)).length > 0;
          await t.resolves(until('it is there', isThere, 10 * SCRAPE_MS), `${alert ?? record ?? ''}: ${selector}`);
        }
      }
      t.equal((await prometheus.rules()).length, allRules().length);
    });

    t.test('what the clients just did shows, and fires', async (t) => {
      const value = async (expr: string): Promise<number> => (await prometheus.query(expr))[0]?.value ?? Number.NaN;
      const firing = async (): Promise<readonly (string | undefined)[]> =>
        (await prometheus.query('ALERTS{alertstate="firing"}')).map(({ metric }) => metric['alertname']).sort();
      await until(
        'the day of the Business key is used up, and a Free key banned',
        async () => (await firing()).length >= 2 && (await value('sum(petgate_bans_started_total{plan="free"})')) === 1,
      );
      t.ok((await value('sum(petgate_limited_total{plan="business",window="day"})')) > 0);
      t.equal(await value('petgate_upstream_up_ratio{upstream="pets"}'), 1);
      t.equal(await value('sum(petgate_workers{state="answering"})'), 2);
      t.strictSame(await firing(), ['PetgateDayQuotaGone', 'PetgateDayQuotaNearlyGone'], 'nothing else is wrong');
    });
  },
);
