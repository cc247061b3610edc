import { readFileSync } from 'node:fs';
import t from 'tap';
import { reloads, replaceFile, startLimited, startPair, wholeScrape, workersOf } from '../../gateway/workers/pair.js';
import { scrape } from '../../servers/exposition.js';
import { childrenOf } from '../../servers/program.js';
import { until } from '../../servers/until.js';

t.test('the counts of a killed worker stay, and it is replaced', async (t) => {
  const { gateway, ask, admitted } = await startPair(t);
  t.equal(await ask(40), 40);
  t.equal((await wholeScrape(gateway)).value('petgate_admitted_total', { plan: 'business' }), 40);
  for (const [index, pid] of workersOf(gateway).entries()) {
    process.kill(pid, 'SIGKILL');
    await until('its replacement answers', async () => {
      const metrics = await scrape(gateway.adminUrl);
      t.equal(metrics.value('petgate_admitted_total', { plan: 'business' }), 40, 'no scrape shows less');
      return (
        metrics.value('petgate_worker_restarts_total') === index + 1 &&
        metrics.value('petgate_workers', { state: 'answering' }) === 2
      );
    });
  }
  t.equal(await ask(10), 10);
  await until('the new ones count on from there', async () => (await admitted()) === 50);
});

t.test('a worker that hangs does not make a scrape fail, nor its counts vanish', async (t) => {
  const { gateway, ask, admitted } = await startPair(t);
  t.equal(await ask(40), 40);
  t.equal((await wholeScrape(gateway)).value('petgate_admitted_total', { plan: 'business' }), 40);
  const [hung = 0] = workersOf(gateway);
  process.kill(hung, 'SIGSTOP');
  t.teardown(() => process.kill(hung, 'SIGCONT'));
  t.equal(await admitted(), 40, 'a scrape does not wait for it');
  await until(
    'it is called silent',
    async () => (await scrape(gateway.adminUrl)).value('petgate_workers', { state: 'silent' }) === 1,
  );
  t.equal((await scrape(gateway.adminUrl)).value('petgate_workers', { state: 'answering' }), 1);
  const more = await ask(4);
  t.ok(more >= 1, `the other answered ${more} of 4`);
  t.ok((await admitted()) >= 40 + more, 'and is counted');
  process.kill(hung, 'SIGCONT');
  await until(
    'it answers again',
    async () => (await scrape(gateway.adminUrl)).value('petgate_workers', { state: 'answering' }) === 2,
  );
});

t.test('"settings reloaded" is not logged before a worker that hangs has taken them over', async (t) => {
  const { gateway, plan, limits } = await startLimited(t);
  for (const [index, signal] of (['SIGCONT', 'SIGKILL'] as const).entries()) {
    const [hung = 0] = childrenOf(gateway.program.pid);
    process.kill(hung, 'SIGSTOP');
    const minute = 2000 + index;
    plan(minute);
    await until('the other worker has them', async () => (await limits(1))[0] === String(minute));
    t.equal(reloads(gateway), index, 'one that hangs has not');
    process.kill(hung, signal);
    await until(`after ${signal} it is notified of`, () => reloads(gateway) === 1 + index);
    t.strictSame(await limits(16), [String(minute)]);
  }
});

t.test(
  'a worker that takes the place of another runs by what is in force, whatever the files say by then',
  async (t) => {
    const { gateway, file, plan, limits } = await startLimited(t);
    plan(200);
    await until('the plan changed', () => reloads(gateway) === 1);
    // A mistake, and what only a new gateway may take over.
    replaceFile(file('plans.yaml'), 'free: nonsense');
    await until('the mistake was seen', async () => (await scrape(gateway.adminUrl)).value('petgate_config_ok') === 0);
    const settings = file('gateway.yaml');
    replaceFile(settings, readFileSync(settings, 'utf8').replace(/^extends/m, 'environment: staging\nextends'));
    const workers = childrenOf(gateway.program.pid);
    t.equal(workers.length, 2);
    for (const [index, pid] of workers.entries()) {
      process.kill(pid, 'SIGKILL');
      await until('another took its place', async () => {
        const metrics = await scrape(gateway.adminUrl);
        return (
          metrics.value('petgate_worker_restarts_total') === index + 1 &&
          metrics.value('petgate_workers', { state: 'answering' }) === 2
        );
      });
    }
    t.strictSame(await limits(8), ['200'], 'the plan in force, for a key of the environment in force');
    replaceFile(settings, readFileSync(settings, 'utf8').replace('environment: staging\n', ''));
    plan(300);
    await until('it is mended', () => reloads(gateway) >= 2);
    t.strictSame(await limits(8), ['300'], 'in every worker');
  },
);
