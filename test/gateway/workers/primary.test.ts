import t from 'tap';
import { scrape } from '../../servers/exposition.js';
import { childrenOf } from '../../servers/program.js';
import { until } from '../../servers/until.js';
import { reloads, startLimited, startPair, wholeScrape, workersOf } from './pair.js';

t.test('a scrape shows the sum of all workers, as it is at that moment', async (t) => {
  const { gateway, ask } = await startPair(t);
  for (let round = 1; round <= 5; round += 1) {
    t.equal(await ask(20), 20);
    t.equal(
      (await wholeScrape(gateway)).value('petgate_admitted_total', { plan: 'business' }),
      round * 20,
      'nothing is behind',
    );
  }
  t.equal(workersOf(gateway).length, 2, 'both had their share');
  const metrics = await wholeScrape(gateway);
  t.equal(metrics.value('petgate_exchanges_limit'), 2000, 'limits are per worker and add up');
  t.equal(metrics.value('petgate_upstream_up_ratio'), 1, 'a share does not');
  t.equal(metrics.value('petgate_info'), 1);
});

t.test('"settings reloaded" is logged when every worker has taken them over', async (t) => {
  const { gateway, plan, limits } = await startLimited(t);
  for (let round = 1; round <= 10; round += 1) {
    plan(1000 + round);
    await until(`reload ${round} is notified of`, () => reloads(gateway) === round);
    t.strictSame(await limits(16), [String(1000 + round)], 'whoever comes after it sees them');
  }
});

t.test('a worker that is starting during a reload has what was reloaded, and lives', async (t) => {
  const { gateway, plan, limits } = await startLimited(t);
  const { pid } = gateway.program;
  for (let round = 1; round <= 3; round += 1) {
    const before = childrenOf(pid);
    process.kill(before[0]!, 'SIGKILL');
    await until('its replacement starts', () => childrenOf(pid).some((child) => !before.includes(child)));
    plan(1000 + round);
    await until('the reload is done', () => reloads(gateway) === round);
    await wholeScrape(gateway);
    t.strictSame(await limits(16), [String(1000 + round)], 'whoever comes after it sees it');
  }
  t.equal((await scrape(gateway.adminUrl)).value('petgate_worker_restarts_total'), 3, 'only what was killed died');
});
