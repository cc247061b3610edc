import t from 'tap';
import type { Test } from 'tap';
import { DAY_MS, MINUTE_MS } from '../../../../src/gateway/admission/bucket.js';
import { openRedisEngine, type RedisEngine } from '../../../../src/gateway/store/redis/engine.js';
import { BAN_MEMORY_MS, type Plans } from '../../../../src/gateway/admission/plan.js';
import {
  ask,
  askMany,
  banned,
  count,
  DAY_START_MS,
  freshId,
  newKey,
  NOON_MS,
  PLANS,
  rowsOf,
  dayName,
} from '../../../conformance/cast.js';
import { rowEnd } from './address-rows.js';
import { startRedis, type RedisServer } from '../../../servers/redis.js';

/** What a row of an address outlives its windows by. */
const GRACE_MS = 10_000;

async function setUp(t: Test, plans: Plans = PLANS): Promise<{ server: RedisServer; engine: RedisEngine }> {
  // Without fsync: while one is under way Redis puts off what it appends, and the file's size tells of other writes.
  const server = await startRedis({ config: ['appendonly yes', 'appendfsync no'] });
  const engine = openRedisEngine({ url: server.url, deadlineMs: 10_000, plans, usageDays: 400 });
  t.teardown(async () => {
    await engine.close();
    await server.stop();
  });
  await engine.check();
  return { server, engine };
}

/** Bytes that Redis appended to its file meanwhile. */
async function appended(server: RedisServer, meanwhile: () => Promise<unknown>): Promise<number> {
  const size = async (): Promise<number> =>
    Number(/aof_current_size:(\d+)/.exec(String(await server.command('INFO', 'persistence')))?.[1]);
  const before = await size();
  await meanwhile();
  return (await size()) - before;
}

const address = (): { kind: 'address'; address: string } => ({ kind: 'address', address: freshId() });

t.test('a request that a ban refuses writes nothing for an address, and for a key its count alone', async (t) => {
  const { server, engine } = await setUp(t);
  const who = address();
  const first = await askMany(engine, who, 20, NOON_MS);
  t.equal(count(first, 'banned'), 6, 'the ban began');
  // Minutes go by, so that a window that is over would have something to say.
  const bytes = await appended(server, async () => {
    for (let n = 1; n <= 100; n += 1) banned(await ask(engine, who, NOON_MS + n * 1_000));
  });
  t.equal(bytes, 0, 'a hundred requests of a banned address');

  const key = await newKey(engine, 'strict');
  await askMany(engine, key, 4, NOON_MS);
  const counting = await appended(server, async () => {
    for (let n = 1; n <= 50; n += 1) banned(await ask(engine, key, NOON_MS + n * 1_000));
  });
  const alone = await appended(server, () =>
    server.command('HINCRBY', `petgate:{${key.id}}:usage:${Math.floor(NOON_MS / DAY_MS)}`, 'strict|listPets|other', 1),
  );
  t.ok(counting < 50 * 1.5 * alone, 'one HINCRBY each, and no state', { counting, alone });
  t.match(await rowsOf(engine, dayName(NOON_MS), dayName(NOON_MS), key.id), [{ banned: 51 }], 'each is counted');
});

t.test('looking at the figures writes nothing', async (t) => {
  const { server, engine } = await setUp(t);
  const key = await newKey(engine, 'free');
  const who = address();
  const bytes = await appended(server, async () => {
    for (const each of [key, who]) await askMany(engine, each, 50, NOON_MS, { cost: 0 });
  });
  t.equal(bytes, 0);
});

t.test('the row of an address ends with its windows, later only for strikes and bans', async (t) => {
  const { server, engine } = await setUp(t);
  const lives = async (what: string, who: { address: string }, ms: number): Promise<void> => {
    const left = (await rowEnd(server, who.address)) - Date.now();
    t.ok(left > ms - 60_000 && left <= ms, what, { left, ms });
  };
  const once = address();
  await ask(engine, once, NOON_MS);
  await lives('one request: until the day ends', once, DAY_MS / 2 + GRACE_MS);
  const late = address();
  await ask(engine, late, DAY_START_MS + DAY_MS - 1_000);
  await lives('just before midnight: until the minute ends', late, MINUTE_MS + GRACE_MS);
  const ban = address();
  await askMany(engine, ban, 15, NOON_MS);
  await lives('banned: until the ban is forgotten', ban, 300_000 + BAN_MEMORY_MS + GRACE_MS);

  const plans = new Map(PLANS);
  plans.set('anonymous', { ...PLANS.get('anonymous')!, limits: { minute: 5, day: 'unlimited' } });
  engine.setPlans(plans);
  const unlimited = address();
  await ask(engine, unlimited, NOON_MS);
  await lives('no limit a day: until the minute ends', unlimited, MINUTE_MS + GRACE_MS);
  plans.set('anonymous', { ...PLANS.get('anonymous')!, limits: { minute: 6, day: 24 }, refill: 'greedy' });
  engine.setPlans(plans);
  const drip = address();
  await ask(engine, drip, NOON_MS);
  await lives('refilled bit by bit: until all is', drip, DAY_MS / 24 + GRACE_MS);
});
