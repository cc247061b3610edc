import { Redis } from 'ioredis';
import t from 'tap';
import type { Test } from 'tap';
import { openRedisEngine } from '../../../../../src/gateway/store/redis/engine.js';
import type { RedisEngine } from '../../../../../src/gateway/store/redis/engine.js';
import { customerName, keyName, ledgerName, MONTHS } from '../../../../../src/gateway/store/redis/names.js';
import { DAY_MS } from '../../../../../src/shared/utc-day.js';
import { monthStartMs } from '../../../../../src/shared/utc-month.js';
import {
  ask,
  askMany,
  change,
  changeCustomer,
  keyOf,
  newCustomer,
  newKey,
  PLANS,
  standing,
} from '../../../../conformance/cast.js';
import type { Actor } from '../../../../conformance/cast.js';
import { startRedis } from '../../../../servers/redis.js';
import { until } from '../../../../servers/until.js';
import { stateBefore } from '../../before.js';

async function leftOf(engine: RedisEngine, key: Actor): Promise<number | undefined> {
  return standing(await ask(engine, key, Date.now(), { cost: 0 })).more[0]?.remaining;
}

interface Stage {
  readonly open: () => RedisEngine;
  readonly client: Redis;
  /** Makes the store as a version before left it. */
  readonly goBack: (...names: readonly string[]) => Promise<void>;
}

async function setUp(t: Test): Promise<Stage> {
  const server = await startRedis();
  const client = new Redis(server.url);
  const engines: RedisEngine[] = [];
  t.teardown(async () => {
    for (const engine of engines) await engine.close();
    client.disconnect();
    await server.stop();
  });
  return {
    client,
    open: () => {
      const engine = openRedisEngine({ url: server.url, deadlineMs: 2_000, plans: PLANS, usageDays: 400 });
      engines.push(engine);
      return engine;
    },
    goBack: async (...names) => {
      for (const name of names) {
        const state = await client.hgetBuffer(name, 'state');
        await client.hset(name, 'state', stateBefore(state!));
      }
      await client.del(MONTHS);
    },
  };
}

t.test('a store of before begins its months from the ledger: keys, and customers with all their keys', async (t) => {
  const { open, client, goBack } = await setUp(t);
  const engine = open();
  await engine.check();
  await until('the store is new', async () => (await client.get(MONTHS)) === '0');
  const lone = await newKey(engine, 'free');
  const customer = await newCustomer(engine, 'pro');
  const keys = [await keyOf(engine, customer.id), await keyOf(engine, customer.id)];
  const idle = await newKey(engine, 'free');
  await askMany(engine, lone, 4, Date.now());
  await askMany(engine, lone, 1, Date.now(), { cost: 3 });
  for (const key of keys) await askMany(engine, key, 5, Date.now());
  // What was spent on the first of the month, and on the day before.
  const first = monthStartMs(Date.now()) / DAY_MS;
  const isFirst = Math.floor(Date.now() / DAY_MS) === first;
  if (!isFirst)
    await client.hset(ledgerName(lone.id, first), 'free|listPets|requests', '2', 'free|listPets|excess', '3');
  await client.hset(ledgerName(lone.id, first - 1), 'free|listPets|requests', '900');
  await client.hset(ledgerName(keys[0]!.id, first), 'pro|listPets|limited', '77', 'pro|listPets|failed', '5');
  for (const { id } of [lone, keys[0]!]) {
    const days = (await client.hgetBuffer(keyName(id), 'days'))!;
    const entered = Buffer.alloc(4);
    entered.writeUInt16LE(first);
    entered.writeUInt16LE(first - 1, 2);
    await client.hset(keyName(id), 'days', Buffer.concat([days, entered]));
  }
  await goBack(keyName(lone.id), customerName(customer.id));

  const next = open();
  await change(next, lone, { plan: 'monthly' });
  t.equal(await leftOf(next, lone), 20, 'a state of before has no month');
  await next.check();
  await until('it was begun', async () => (await client.get(MONTHS)) !== null);
  t.equal(await leftOf(next, lone), 20 - 7 - (isFirst ? 0 : 5));
  await changeCustomer(next, customer, { plan: 'monthly' });
  t.equal(await leftOf(next, keys[1]!), 10);
  await change(next, idle, { plan: 'monthly' });
  t.equal(await leftOf(next, idle), 20);
});

t.test(
  'while the month lasts it may be done again, by each gateway that starts, and counts nothing twice',
  async (t) => {
    const { open, client, goBack } = await setUp(t);
    const engine = open();
    await engine.check();
    await until('the store is new', async () => (await client.get(MONTHS)) === '0');
    const key = await newKey(engine, 'monthly');
    await askMany(engine, key, 6, Date.now());
    await goBack(keyName(key.id));
    for (const spent of [7, 8, 9]) {
      const next = open();
      await next.check();
      await until('the month is right', async () => (await leftOf(next, key)) === 20 - spent + 1);
      await ask(next, key, Date.now());
      t.equal(await leftOf(next, key), 20 - spent);
    }
  },
);

t.test('strikes and bans of before hold', async (t) => {
  const { open, goBack } = await setUp(t);
  const engine = open();
  await engine.check();
  const key = await newKey(engine, 'strict');
  await askMany(engine, key, 3, Date.now());
  await goBack(keyName(key.id));
  t.match(await ask(engine, key, Date.now()), { outcome: 'banned', level: 1, started: true }, 'the third strike');
  await goBack(keyName(key.id));
  t.match(await ask(engine, key, Date.now()), { outcome: 'banned', level: 1, started: false });
  t.match(await engine.bans.read(key.id), { level: 1 });
});
