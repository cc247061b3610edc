import t from 'tap';
import type { Test } from 'tap';
import { scrape } from '../servers/exposition.js';
import { startGateway } from '../servers/gateway.js';
import type { Gateway } from '../servers/gateway.js';
import { exchangeRaw } from '../servers/raw.js';
import { until } from '../servers/until.js';
import { startUpstream } from '../servers/upstream.js';

interface Pair {
  readonly gateway: Gateway;
  /** So many requests, a connection each, so that both workers get their share; gives how many were answered 200. */
  readonly ask: (count: number) => Promise<number>;
  readonly admitted: () => Promise<number>;
}

async function startPair(t: Test): Promise<Pair> {
  const upstream = await startUpstream(t);
  const gateway = await startGateway(t, { environment: { PETS_URL: upstream.url, PETGATE_WORKERS: '2' } });
  const { key } = await gateway.createKey({ plan: 'business' });
  const request = `GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`;
  return {
    gateway,
    ask: async (count) => {
      const answers = await Promise.all(Array.from({ length: count }, () => exchangeRaw(gateway.port, request, 1, 1500).catch(() => [])));
      return answers.flat().filter(({ status }) => status === 200).length;
    },
    admitted: async () => (await scrape(gateway.adminUrl)).value('petgate_admitted_total', { plan: 'business' }),
  };
}

/** Process ids of the workers that served something, from the access log. */
function workersOf({ program }: Gateway): readonly number[] {
  return [...new Set(program.lines().filter(({ msg }) => msg === 'exchange').map(({ pid }) => Number(pid)))];
}

t.test('a scrape shows the sum of all workers, as it is at that moment', async (t) => {
  const { gateway, ask, admitted } = await startPair(t);
  for (let round = 1; round <= 5; round += 1) {
    t.equal(await ask(20), 20);
    t.equal(await admitted(), round * 20, 'nothing is behind');
  }
  t.equal(workersOf(gateway).length, 2, 'both had their share');
  const metrics = await scrape(gateway.adminUrl);
  t.equal(metrics.value('petgate_workers', { state: 'answering' }), 2);
  t.equal(metrics.value('petgate_exchanges_limit'), 2000, 'limits are per worker and add up');
  t.equal(metrics.value('petgate_upstream_up_ratio'), 1, 'a share does not');
  t.equal(metrics.value('petgate_info'), 1);
});

t.test('the counts of a killed worker stay, and it is replaced', async (t) => {
  const { gateway, ask, admitted } = await startPair(t);
  t.equal(await ask(40), 40);
  t.equal(await admitted(), 40);
  for (const [index, pid] of workersOf(gateway).entries()) {
    process.kill(pid, 'SIGKILL');
    await until('its replacement answers', async () => {
      const metrics = await scrape(gateway.adminUrl);
      t.equal(metrics.value('petgate_admitted_total', { plan: 'business' }), 40, 'no scrape shows less');
      return metrics.value('petgate_worker_restarts_total') === index + 1 && metrics.value('petgate_workers', { state: 'answering' }) === 2;
    });
  }
  t.equal(await ask(10), 10);
  t.equal(await admitted(), 50, 'the new ones count on from there');
});

t.test('a worker that hangs does not make a scrape fail, nor its counts vanish', async (t) => {
  const { gateway, ask, admitted } = await startPair(t);
  t.equal(await ask(40), 40);
  t.equal(await admitted(), 40);
  const [hung = 0] = workersOf(gateway);
  process.kill(hung, 'SIGSTOP');
  t.teardown(() => process.kill(hung, 'SIGCONT'));
  const beganMs = performance.now();
  t.equal(await admitted(), 40);
  t.ok(performance.now() - beganMs < 1000, `the scrape took ${Math.round(performance.now() - beganMs)} ms`);
  await until('it is called silent', async () => (await scrape(gateway.adminUrl)).value('petgate_workers', { state: 'silent' }) === 1);
  t.equal((await scrape(gateway.adminUrl)).value('petgate_workers', { state: 'answering' }), 1);
  const more = await ask(4);
  t.ok(more >= 1, `the other answered ${more} of 4`);
  t.ok((await admitted()) >= 40 + more, 'and is counted');
  process.kill(hung, 'SIGCONT');
  await until('it answers again', async () => (await scrape(gateway.adminUrl)).value('petgate_workers', { state: 'answering' }) === 2);
});
