import t from 'tap';
import type { Test } from 'tap';
import { DAY_MS } from '../../../../../src/gateway/admission/bucket.js';
import { openRedisEngine, type RedisEngine } from '../../../../../src/gateway/store/redis/engine.js';
import { createReporter } from '../../../../../src/gateway/store/settlements.js';
import type { UsageRow } from '../../../../../src/gateway/store/records/counts.js';
import { ask, dayName, newKey, NOON_MS, PLANS, rowsOf, type Actor } from '../../../../conformance/cast.js';
import { startCluster, startRedis, type RedisServer } from '../../../../servers/redis.js';

const DAYS = 45;
const reportsOf = createReporter();
const dayMs = (day: number): number => NOON_MS + day * DAY_MS;

function open(t: Test, url: string): RedisEngine {
  const engine = openRedisEngine({ url, deadlineMs: 10_000, plans: PLANS, usageDays: 400 });
  t.teardown(() => engine.close());
  return engine;
}

async function callsOf(server: RedisServer, command: string): Promise<number> {
  const stats = String(await server.command('INFO', 'commandstats'));
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
}

/** Every row of these keys, each read by the names of its ledgers alone. */
async function rowsByName(engine: RedisEngine, keys: readonly Actor[], from: number, to: number): Promise<UsageRow[]> {
  const ids = keys.map(({ id }) => id).sort();
  const rows: UsageRow[] = [];
  for (const id of ids) rows.push(...(await rowsOf(engine, dayName(dayMs(from)), dayName(dayMs(to)), id)));
  return rows;
}

/** Counts of every way into the ledger, on many days, in no order. */
async function use(engine: RedisEngine, keys: readonly Actor[]): Promise<void> {
  for (let n = 0; n < DAYS * 3; n += 1) {
    const day = (n * 29) % DAYS;
    for (const [place, key] of keys.entries()) {
      const way = (n + place) % 5;
      const counted = { keyId: key.id, plan: 'open', operation: 'getPet' };
      if (place === 0 || way < 2) await ask(engine, key, dayMs(day));
      else if (way === 2) await engine.settle(reportsOf([{ ...counted, admittedAtMs: dayMs(day), isFailed: true }]));
      else if (way === 3)
        await engine.fleet.take(`spool ${n}`, {
          keyId: key.id,
          rows: [
            {
              ...counted,
              key: key.id,
              day: dayName(dayMs(day)),
              requests: 3,
              units: 5,
              returned: 0,
              limited: 1,
              banned: 0,
              failed: 0,
            },
          ],
        });
    }
  }
}

async function provesEqual(t: Test, engine: RedisEngine): Promise<void> {
  await engine.check();
  const keys: Actor[] = [];
  for (let n = 0; n < 9; n += 1) keys.push(await newKey(engine, 'open'));
  const used = keys.slice(0, 6);
  await use(engine, used);
  for (const [from, to] of [
    [0, DAYS],
    [3, 3],
    [DAYS - 2, DAYS + 400],
  ] as const) {
    const rows = await rowsOf(engine, dayName(dayMs(from)), dayName(dayMs(to)));
    t.ok(rows.length > 0);
    t.same(rows, await rowsByName(engine, keys, from, to), `days ${from} to ${to}`);
  }
}

t.test('a report over all keys has what the ledgers of each key have, whatever counted', async (t) => {
  const server = await startRedis();
  t.teardown(() => server.stop());
  await provesEqual(t, open(t, server.url));
});

t.test('in a Cluster too', async (t) => {
  const cluster = await startCluster();
  t.teardown(() => cluster.stop());
  await provesEqual(t, open(t, cluster.url));
});

t.test('of days on which a key was idle nothing is read', async (t) => {
  const server = await startRedis();
  t.teardown(() => server.stop());
  const engine = open(t, server.url);
  await engine.check();
  const keys: Actor[] = [];
  for (let n = 0; n < 300; n += 1) keys.push(await newKey(engine, 'open'));
  for (const day of [2, 5]) await ask(engine, keys[7]!, dayMs(day));
  const before = { hgetall: await callsOf(server, 'hgetall'), hget: await callsOf(server, 'hget') };
  const rows = await rowsOf(engine, dayName(dayMs(0)), dayName(dayMs(29)));
  t.same(
    rows.map(({ key, day }) => [key, day]),
    [2, 5].map((day) => [keys[7]!.id, dayName(dayMs(day))]),
  );
  t.equal((await callsOf(server, 'hgetall')) - before.hgetall, 2, 'two ledgers');
  t.equal((await callsOf(server, 'hget')) - before.hget, 300, 'one field of each key');
});
