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
import { noCounts } from '../../../../src/gateway/store/records/counts.js';
import { toldOf } from '../../../conformance/told.js';
import { until } from '../../../servers/until.js';
import { back, learnt, ledgerOf, openGateway, outageBegins, outageEnds, served, startGateway } from './fixture.js';
import { startReplayer } from './replayers.js';
import { byName, windowOf } from '../../admission/verdict.js';

const now = (): number => Date.now();

t.test('a process dies again and again of bringing its spool home: every count arrives once', async (t) => {
  const { server, engine, folder } = await startGateway(t);
  const keys: Actor[] = [];
  while (keys.length < 40) keys.push(await newKey(engine, 'pro'));
  await served(engine, ...keys);
  const expected = new Map(keys.map(({ id }) => [id, 0]));
  let gateway = engine;
  for (let round = 0; round < 3; round += 1) {
    await outageBegins(server, gateway);
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
  const { server, engine } = await startGateway(t);
  const [key, greedy] = [await newKey(engine, 'free'), await newKey(engine, 'drip')];
  const take = async (spool: string, requests: number, id: string, plan = 'free'): Promise<void> => {
    const redis = openGateway(t, server).redis;
    const counts = { requests, units: requests, returned: 0, limited: 2, banned: 1, failed: 1 };
    const row = { key: id, plan, operation: 'listPets', day: dayName(now()), ...counts };
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
  const { server, engine } = await startGateway(t);
  const key = await newKey(engine, 'pro');
  const { now: clock } = Date;
  t.teardown(() => (Date.now = clock));
  const outage = async (requests: number, aheadMs: number): Promise<void> => {
    await outageBegins(server, engine);
    t.equal(count(await askMany(engine, key, requests, now()), 'admitted'), requests);
    Date.now = () => clock() + aheadMs;
    await outageEnds(server, engine);
    Date.now = clock;
  };
  await served(engine, key);
  await outage(5, 41 * DAY_MS);
  // What is cached of it may have aged meanwhile.
  await change(engine, key, { name: 'other' });
  await served(engine, key);
  await outage(3, 0);
  t.equal((await ledgerOf(engine, key)).requests, 8);
});

t.test(
  'greedy: what was spent while Redis was unavailable is owed, however long the bucket was left alone before',
  async (t) => {
    const { engine, redis } = await startGateway(t);
    const [idle, debtor, late] = [
      await newKey(engine, 'drip'),
      await newKey(engine, 'trickle'),
      await newKey(engine, 'drip'),
    ];
    const take = (id: string, plan: string, requests: number, atMs: number): Promise<void> => {
      const counts = { ...noCounts(), requests, units: requests };
      const row = { key: id, plan, operation: 'listPets', day: dayName(atMs), ...counts };
      return redis.fleet.take('spool', { keyId: id, terms: termsOf(PLANS, plan, null), rows: [row] });
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
  const { server, engine } = await startGateway(t);
  const key = await newKey(engine, 'enterprise', custom('unlimited', 50));
  await served(engine, key);
  await outageBegins(server, engine);
  await askMany(engine, key, 50, now());
  await outageEnds(server, engine);
  await change(engine, key, custom('unlimited', 40));
  const verdict = standing(await ask(engine, key, now()));
  t.match(byName(verdict), { outcome: 'limited', violated: 'day', windows: { day: { remaining: 0 } } });
});

t.test('what is crossed while Redis is unavailable is told when it has the counts, once', async (t) => {
  const { server, engine, redis } = await startGateway(t);
  const key = await newKey(engine, 'enterprise', { limits: { minute: 100, day: 10, month: 20 } });
  const { id: customer } = await newCustomer(engine, 'calm');
  const own = await keyOf(engine, customer);
  for (const each of [key, own])
    await until('it is served', async () => (await ask(engine, each, now(), { cost: 0 })).outcome === 'admitted');
  await askMany(engine, key, 4, now());
  t.same(await toldOf(engine, key.id), []);
  await learnt(engine, key, own);
  await outageBegins(server, engine);
  t.equal(count(await askMany(engine, key, 5, now()), 'admitted'), 5);
  t.equal(count(await askMany(engine, own, 3, now()), 'admitted'), 3);
  await outageEnds(server, engine);
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
