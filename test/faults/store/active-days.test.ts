import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import type { Test } from 'tap';
import { DAY_MS } from '../../../src/gateway/admission/bucket.js';
import type { UsageRow } from '../../../src/gateway/store/records/counts.js';
import { dayName, newKey, NOON_MS, rowsOf } from '../../conformance/cast.js';
import { openEngine } from '../../conformance/open.js';
import { startCluster, startRedis, type RedisServer } from '../../servers/redis.js';
import type { Orders } from './day-counter.js';

const COUNTER = fileURLToPath(new URL('day-counter.js', import.meta.url));
/** PETGATE_LONG=1 takes more. */
const KILLS = process.env['PETGATE_LONG'] === '1' ? 12 : 6;
t.setTimeout(600_000);
const DAYS = 30;
const KEYS = 400;

/** Processes that count are killed at any moment, and the store too: every count is in the report over all keys. */
async function provesNoCountIsMissed(t: Test, url: string, killStore: () => Promise<void>): Promise<void> {
  const engine = openEngine({ engine: 'redis', url });
  t.teardown(() => engine.close());
  await engine.check();
  const keys = await Promise.all(Array.from({ length: KEYS }, () => newKey(engine, 'open')));
  const orders: Orders = { url, keys: keys.map(({ id, subject }) => ({ id, subject })), days: DAYS };
  const counters: ChildProcess[] = [];
  t.teardown(() => counters.forEach((counter) => counter.kill('SIGKILL')));
  const start = async (place: number): Promise<void> => {
    const counter = fork(COUNTER, [JSON.stringify(orders)]);
    counters[place] = counter;
    await once(counter, 'message');
  };
  await Promise.all([0, 1, 2].map(start));
  for (let n = 0; n < KILLS; n += 1) {
    // Long enough to be somewhere in the midst of it, and never at the same place.
    await pause(Math.random() * 40);
    const victim = counters[n % counters.length]!;
    const gone = once(victim, 'exit');
    victim.kill('SIGKILL');
    await gone;
    if (n === KILLS / 2) await killStore();
    await start(n % counters.length);
  }
  for (const counter of counters) counter.kill('SIGKILL');
  const [from, to] = [dayName(NOON_MS), dayName(NOON_MS + (DAYS - 1) * DAY_MS)];
  const byName: UsageRow[] = [];
  for (const { id } of [...keys].sort((a, b) => (a.id < b.id ? -1 : 1)))
    byName.push(...(await rowsOf(engine, from, to, id)));
  t.ok(byName.length > KEYS, `${byName.length} rows`);
  t.same(await rowsOf(engine, from, to), byName);
}

t.test('on one Redis, which is killed as well', async (t) => {
  const server: RedisServer = await startRedis({ config: ['appendonly yes', 'appendfsync no'] });
  t.teardown(() => server.stop());
  await provesNoCountIsMissed(t, server.url, () => server.restart());
});

t.test('in a Cluster', async (t) => {
  const cluster = await startCluster();
  t.teardown(() => cluster.stop());
  await provesNoCountIsMissed(t, cluster.url, () => Promise.resolve());
});
