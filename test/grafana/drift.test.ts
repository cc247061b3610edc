import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { stringify } from 'yaml';
import { packageRoot } from '../../src/shared/package-root.js';
import { scrape } from '../servers/exposition.js';
import { startGateway } from '../servers/gateway.js';
import { temporaryFolder } from '../servers/program.js';
import { startRedis } from '../servers/redis.js';

const BAN = { after: 5 };
const plans = (day: number): Readonly<Record<string, unknown>> => ({
  free: { limits: { minute: 10, day }, ban: BAN },
  anonymous: { limits: { minute: 100, day: 1000 }, ban: BAN },
});
const FIRING = 'count(ALERTS{alertname="PetgateConfigDiffers",alertstate="firing"})';

t.test('gateways of one store whose plans differ say so, and the alert on it fires after ten minutes', async (t) => {
  const redis = await startRedis();
  t.teardown(() => redis.stop());
  const infoOf = async (day: number): Promise<Readonly<Record<string, string>>> => {
    const gateway = await startGateway(t, { plans: plans(day), environment: { REDIS_URL: redis.url } });
    return (await scrape(gateway.adminUrl)).series.find(({ name }) => name === 'petgate_info')!.labels;
  };
  const [first, same, other] = await Promise.all([infoOf(100), infoOf(100), infoOf(200)]);
  t.same(same, first, 'alike, though each has a port and a folder of its own');
  t.not(other['plans'], first['plans']);
  t.same({ ...other, plans: first['plans'] }, first);

  const folder = temporaryFolder(t);
  /** Whether Prometheus calls it firing after eleven minutes. */
  const fires = async (...gateways: readonly Readonly<Record<string, string>>[]): Promise<boolean> => {
    const series = gateways.map((labels, index) => {
      const all = Object.entries({ ...labels, instance: `gateway-${index}` }).map(
        ([name, value]) => `${name}="${value}"`,
      );
      return { series: `petgate_info{${all.join(',')}}`, values: '1x15' };
    });
    const file = join(folder, 'drift.yaml');
    const expected = { expr: FIRING, eval_time: '11m', exp_samples: [{ labels: '{}', value: 1 }] };
    const test = { interval: '1m', input_series: series, promql_expr_test: [expected] };
    writeFileSync(
      file,
      stringify({
        rule_files: [join(packageRoot, 'grafana/alerts/parts.yaml')],
        evaluation_interval: '1m',
        tests: [test],
      }),
    );
    return promisify(execFile)('promtool', ['test', 'rules', file]).then(
      () => true,
      (error: unknown) => {
        t.match((error as { readonly stderr: string }).stderr, 'got: nil');
        return false;
      },
    );
  };
  t.equal(await fires(first, other), true);
  t.equal(await fires(first, same), false);
});
