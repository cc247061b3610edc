import t from 'tap';
import { DAY_MS } from '../../../../src/gateway/admission/bucket.js';
import { termsOf } from '../../../../src/gateway/admission/plan.js';
import {
  ask,
  askMany,
  change,
  count,
  custom,
  dayName,
  keyOf,
  limited,
  newCustomer,
  newKey,
  PLANS,
  standing,
} from '../../../conformance/cast.js';
import type { Actor } from '../../../conformance/cast.js';
import { toldOf } from '../../../conformance/told.js';
import { until } from '../../../servers/until.js';
import { unavailable, back, durableRedis, learnt, ledgerOf, openGateway } from './fixture.js';
import { startReplayer } from './replayers.js';
import { byName, windowOf } from '../../admission/verdict.js';

const now = (): number => Date.now();

t.test('a process dies again and again of bringing its spool home: every count arrives once', async (t) => {
  const server = await durableRedis(t);
  const { engine, folder } = openGateway(t, server);
  const keys: Actor[] = [];
  while (keys.length < 40) keys.push(await newKey(engine, 'pro'));
  for (const key of keys)
    await until('it is served', async () => (await ask(engine, key, now(), { cost: 0 })).outcome === 'admitted');
  await learnt(engine, ...keys);
  const expected = new Map(keys.map(({ id }) => [id, 0]));
  let gateway = engine;
  for (let round = 0; round < 3; round += 1) {
    await server.kill();
    await unavailable(gateway);
    for (const [n, key] of keys.entries()) {
      await askMany(gateway, key, (n % 7) + 1, now());
      await ask(gateway, key, now(), { operation: 'createPet' });
      expected.set(key.id, expected.get(key.id)! + (n % 7) + 2);
    }
    await gateway.close();
    const replayer = await startReplayer(t, folder, server.url);
    await server.restart();
    await replayer.kill(round * 40);
    gateway = openGateway(t, server, { folder }).engine;
    await back(gateway);
  }
  for (const key of keys) {
    await until('all is there', async () => (await ledgerOf(gateway, key)).requests >= expected.get(key.id)!);
    t.equal((await ledgerOf(gateway, key)).requests, expected.get(key.id));
    t.equal(
      10_000 - windowOf(standing(await ask(gateway, key, now(), { cost: 0 })), 'day').remaining,
      expected.get(key.id),
      'and is spent from the day, once',
    );
  }
});

t.test('what was taken is not taken again, not even by a store that forgot what was acknowledged', async (t) => {
  const server = await durableRedis(t);
  const { engine } = openGateway(t, server);
  const [key, greedy] = [await newKey(engine, 'free'), await newKey(engine, 'drip')];
  const take = async (spool: string, requests: number, id: string, plan = 'free'): Promise<void> => {
    const redis = openGateway(t, server).redis;
    const row = {
      key: id,
      plan,
      operation: 'listPets',
      day: new Date().toISOString().slice(0, 10),
      requests,
      units: requests,
      returned: 0,
      limited: 2,
      banned: 1,
      failed: 1,
    };
    for (let n = 0; n < 3; n += 1)
      await redis.fleet.take(spool, { keyId: id, terms: termsOf(PLANS, plan, null), rows: [row] });
  };
  await take('one', 5, key.id);
  await take('one', 4, key.id);
  await take('one', 7, key.id);
  await take('two', 3, key.id);
  t.same(await ledgerOf(engine, key), { requests: 10, units: 10, returned: 0, limited: 4, banned: 2, failed: 2 });
  t.equal(windowOf(standing(await ask(engine, key, now(), { cost: 0 })), 'day').remaining, 990);
  await take('one', 100, greedy.id, 'drip');
  const { remaining } = windowOf(standing(await ask(engine, greedy, now(), { cost: 0 })), 'day');
  t.ok(remaining >= 900 && remaining <= 901, 'of a bucket that trickles as well', { remaining });
});

t.test('a clock that is ahead while they are sent: nothing is forgotten here that Redis still remembers', async (t) => {
  const server = await durableRedis(t);
  const { engine } = openGateway(t, server);
  const key = await newKey(engine, 'pro');
  const { now: clock } = Date;
  t.teardown(() => (Date.now = clock));
  const served = async (): Promise<void> => {
    await until('it is served', async () => (await ask(engine, key, now(), { cost: 0 })).outcome === 'admitted');
    await learnt(engine, key);
  };
  const outage = async (requests: number, aheadMs: number): Promise<void> => {
    await server.kill();
    await unavailable(engine);
    t.equal(count(await askMany(engine, key, requests, now()), 'admitted'), requests);
    Date.now = () => clock() + aheadMs;
    await server.restart();
    await back(engine);
    Date.now = clock;
  };
  await served();
  await outage(5, 41 * DAY_MS);
  // What is cached of it may have aged meanwhile.
  await change(engine, key, { name: 'other' });
  await served();
  await outage(3, 0);
  t.equal((await ledgerOf(engine, key)).requests, 8);
});

t.test(
  'greedy: what was spent while Redis was unavailable is owed, however long the bucket was left alone before',
  async (t) => {
    const server = await durableRedis(t);
    const { engine, redis } = openGateway(t, server);
    const [idle, debtor, late] = [
      await newKey(engine, 'drip'),
      await newKey(engine, 'trickle'),
      await newKey(engine, 'drip'),
    ];
    const take = (id: string, plan: string, requests: number, atMs: number): Promise<void> => {
      const row = {
        key: id,
        plan,
        operation: 'listPets',
        day: dayName(atMs),
        requests,
        units: requests,
        returned: 0,
        limited: 0,
        banned: 0,
        failed: 0,
      };
      return redis.fleet.take('spool', {
        keyId: id,
        terms: termsOf(PLANS, plan, null),
        rows: [row],
      });
    };
    await ask(redis, idle, now() - 20 * 3_600_000);
    await take(idle.id, 'drip', 500, now());
    const { remaining } = windowOf(standing(await ask(redis, idle, now(), { cost: 0 })), 'day');
    t.ok(remaining >= 500 && remaining <= 502, 'what trickled in before it was spent is no credit', { remaining });
    await take(debtor.id, 'trickle', 10, now());
    const owing = limited(await ask(redis, debtor, now()));
    t.ok(Math.abs(owing.retryAtMs - now() - DAY_MS / 3) < 60_000, 'an outage leaves it empty at the most', {
      inMs: owing.retryAtMs - now(),
    });
    await take(late.id, 'drip', 500, now() - DAY_MS);
    const spent = 1_000 - windowOf(standing(await ask(redis, late, now(), { cost: 0 })), 'day').remaining;
    t.ok(spent >= 498 && spent <= 500, 'it knows no midnight', { spent });
  },
);

t.test('more than the day has leaves it empty until it turns', async (t) => {
  const server = await durableRedis(t);
  const { engine } = openGateway(t, server);
  const key = await newKey(engine, 'enterprise', custom('unlimited', 50));
  await until('it is served', async () => (await ask(engine, key, now(), { cost: 0 })).outcome === 'admitted');
  await learnt(engine, key);
  await server.kill();
  await unavailable(engine);
  await askMany(engine, key, 50, now());
  await server.restart();
  await back(engine);
  await change(engine, key, custom('unlimited', 40));
  const verdict = standing(await ask(engine, key, now()));
  t.match(byName(verdict), { outcome: 'limited', violated: 'day', windows: { day: { remaining: 0 } } });
});

t.test('what is crossed while Redis is unavailable is told when it has the counts, once', async (t) => {
  const server = await durableRedis(t);
  const { engine, redis } = openGateway(t, server);
  const key = await newKey(engine, 'enterprise', { limits: { minute: 100, day: 10, month: 20 } });
  const { id: customer } = await newCustomer(engine, 'calm');
  const own = await keyOf(engine, customer);
  for (const each of [key, own])
    await until('it is served', async () => (await ask(engine, each, now(), { cost: 0 })).outcome === 'admitted');
  await askMany(engine, key, 4, now());
  t.same(await toldOf(engine, key.id), []);
  await learnt(engine, key, own);
  await server.kill();
  await unavailable(engine);
  t.equal(count(await askMany(engine, key, 5, now()), 'admitted'), 5);
  t.equal(count(await askMany(engine, own, 3, now()), 'admitted'), 3);
  await server.restart();
  await back(engine);
  const crossed = async (subject: string): Promise<readonly string[]> =>
    (await toldOf(engine, subject)).map(({ data: { window, threshold, used } }) => `${window} ${threshold} ${used}`);
  await until('it is told', async () => (await crossed(key.id)).length === 2 && (await crossed(customer)).length === 1);
  t.same(await crossed(key.id), ['day 50 9', 'day 80 9']);
  t.same(await crossed(customer), ['day 50 3']);
  t.equal((await toldOf(engine, customer))[0]?.data.key, own.id);
  const row = { key: key.id, plan: 'enterprise', operation: 'listPets', day: dayName(now()) };
  const counts = { requests: 6, units: 6, returned: 0, limited: 0, banned: 0, failed: 0 };
  for (let n = 0; n < 3; n += 1)
    await redis.fleet.take('another', {
      ...{ keyId: key.id, rows: [{ ...row, ...counts }], warnAt: [50, 80, 100] },
      terms: termsOf(PLANS, 'enterprise', { minute: 100, day: 10, month: 20 }),
    });
  const told = ['day 100 15', 'day 50 9', 'day 80 9', 'month 50 15'];
  await until('the rest is told', async () => (await crossed(key.id)).length >= told.length);
  t.same([...(await crossed(key.id))].sort(), told);
});
