import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { scrape } from '../../servers/exposition.js';
import type { Exposition } from '../../servers/exposition.js';
import { startGateway } from '../../servers/gateway.js';
import type { Gateway } from '../../servers/gateway.js';
import { NO_BAN } from '../../servers/plans.js';
import { childrenOf } from '../../servers/program.js';
import { exchangeRaw } from '../../servers/raw.js';
import { until } from '../../servers/until.js';
import { startUpstream } from '../../servers/upstream.js';

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
      const answers = await Promise.all(
        Array.from({ length: count }, () => exchangeRaw(gateway.port, request, 1, 3000).catch(() => [])),
      );
      return answers.flat().filter(({ status }) => status === 200).length;
    },
    admitted: async () => (await scrape(gateway.adminUrl)).value('petgate_admitted_total', { plan: 'business' }),
  };
}

/** A scrape that both workers answered: a busy machine's may be late, and are then left out. */
async function wholeScrape({ adminUrl }: Gateway): Promise<Exposition> {
  for (;;) {
    const metrics = await scrape(adminUrl);
    if (metrics.value('petgate_workers', { state: 'answering' }) === 2) return metrics;
  }
}

/** Process ids of the workers that served something, from the access log. */
function workersOf({ program }: Gateway): readonly number[] {
  return [
    ...new Set(
      program
        .lines()
        .filter(({ msg }) => msg === 'exchange')
        .map(({ pid }) => Number(pid)),
    ),
  ];
}

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

interface Limited {
  readonly gateway: Gateway;
  /** A file of its settings. */
  readonly file: (name: string) => string;
  /** Replaces the plans: a minute of `free` allows so much. */
  readonly plan: (minute: number) => void;
  /** What so many new connections are told of that limit, each different answer once. */
  readonly limits: (connections: number) => Promise<readonly string[]>;
}

async function startLimited(t: Test): Promise<Limited> {
  const upstream = await startUpstream(t);
  const plansOf = (minute: number): Readonly<Record<string, unknown>> => ({
    free: { limits: { minute, day: 1_000_000 }, ban: NO_BAN },
    anonymous: { limits: { minute: 1000, day: 1_000_000 }, ban: NO_BAN },
  });
  const gateway = await startGateway(t, {
    plans: plansOf(1000),
    environment: { PETS_URL: upstream.url, PETGATE_WORKERS: '2' },
  });
  const { key } = await gateway.createKey({ plan: 'free' });
  const file = (name: string): string => join(gateway.dataFolder, 'config', name);
  const request = `GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`;
  return {
    gateway,
    file,
    plan: (minute) => replaceFile(file('plans.yaml'), JSON.stringify(plansOf(minute))),
    limits: async (connections) => {
      // One whom a hanging worker got is told nothing.
      const answers = await Promise.all(
        Array.from({ length: connections }, () => exchangeRaw(gateway.port, request, 1, 3000).catch(() => [])),
      );
      return [...new Set(answers.flat().map(({ headers }) => headers.get('x-ratelimit-limit') ?? 'none'))];
    },
  };
}

/** In one step, as careful editors do. */
function replaceFile(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

const reloads = ({ program }: Gateway): number =>
  program.lines().filter(({ msg }) => msg === 'settings reloaded').length;

t.test('"settings reloaded" is logged when every worker has taken them over, and not before', async (t) => {
  const { gateway, plan, limits } = await startLimited(t);
  for (let round = 1; round <= 20; round += 1) {
    plan(1000 + round);
    await until(`reload ${round} is told of`, () => reloads(gateway) === round);
    t.strictSame(await limits(16), [String(1000 + round)], 'whoever comes after it sees them');
  }
  for (const [index, signal] of (['SIGCONT', 'SIGKILL'] as const).entries()) {
    const [hung = 0] = childrenOf(gateway.program.pid);
    process.kill(hung, 'SIGSTOP');
    const minute = 2000 + index;
    plan(minute);
    await until('the other worker has them', async () => (await limits(1))[0] === String(minute));
    t.equal(reloads(gateway), 20 + index, 'one that hangs has not');
    process.kill(hung, signal);
    await until(`after ${signal} it is told of`, () => reloads(gateway) === 21 + index);
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
