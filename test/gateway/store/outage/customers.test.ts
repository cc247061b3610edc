import t from 'tap';
import { DAY_MS } from '../../../../src/gateway/admission/bucket.js';
import { EVERY_OPERATION } from '../../../../src/gateway/admission/windows.js';
import {
  ask,
  askMany,
  changeCustomer,
  count,
  keyOf,
  newCustomer,
  newKey,
  standing,
  startBan,
} from '../../../conformance/cast.js';
import { until } from '../../../servers/until.js';
import { othersOf, windowOf } from '../../admission/verdict.js';
import { durableRedis, learnt, ledgerOf, openGateway, outageBegins, outageEnds, startGateway } from './fixture.js';

const now = (): number => Date.now();

t.test('keys of a customer share its part of the limit here too, and what they spent comes home', async (t) => {
  const { server, engine } = await startGateway(t, { gateways: 2 });
  const customer = await newCustomer(engine, 'monthly');
  const [first, second] = [await keyOf(engine, customer.id), await keyOf(engine, customer.id)];
  // What the second key was shown last is older than what the first was.
  await ask(engine, second, now());
  await askMany(engine, first, 3, now());
  await learnt(engine, first, second);
  await outageBegins(server, engine);
  t.equal(count(await askMany(engine, second, 5, now()), 'admitted'), 5, 'half of the 16 that were left are 8');
  t.equal(count(await askMany(engine, first, 5, now()), 'admitted'), 3);
  await outageEnds(server, engine);
  for (const key of [first, second])
    await until(`all of ${key.id} is in the ledger`, async () => (await ledgerOf(engine, key)).requests === 6);
  t.match(await ledgerOf(engine, first), { requests: 6, limited: 2 });
  t.match(await ledgerOf(engine, second), { requests: 6, limited: 0 });
  const shown = standing(await ask(engine, second, now(), { operation: EVERY_OPERATION, cost: 0 }));
  t.equal(windowOf(shown, 'day').remaining, 1_000 - 12);
  t.match(othersOf(shown), [{ name: 'month', remaining: 20 - 12 }]);
});

t.test('a change of the customer is followed, and holds here for all its keys', async (t) => {
  const server = await durableRedis(t);
  const here = openGateway(t, server);
  const there = openGateway(t, server, { maintains: false });
  const customer = await newCustomer(there.engine, 'free');
  const keys = [await keyOf(there.engine, customer.id), await keyOf(there.engine, customer.id)];
  const lone = await newKey(there.engine, 'free');
  for (const key of [...keys, lone]) await ask(here.engine, key, now());
  await learnt(here.engine, ...keys, lone);
  await until('the customer is copied', () => here.engine.cached(customer.id)?.record.version === 1);
  await changeCustomer(there.engine, customer, { status: 'disabled' });
  await until('the change is followed', () => here.engine.cached(customer.id)?.record.version === 2);
  await outageBegins(server, here.engine);
  for (const key of keys) t.match(await ask(here.engine, key, now()), { outcome: 'unknown_key', reason: 'disabled' });
  t.equal((await ask(here.engine, lone, now())).outcome, 'admitted');
});

t.test('a ban that Redis showed stays with its key', async (t) => {
  const { server, engine } = await startGateway(t);
  const { id } = await newCustomer(engine, 'free');
  const [first, second] = [await keyOf(engine, id), await keyOf(engine, id)];
  await startBan(engine, first, now() + 3_600_000);
  for (const key of [first, second]) await ask(engine, key, now());
  await learnt(engine, first, second);
  await outageBegins(server, engine);
  t.equal((await ask(engine, first, now())).outcome, 'banned');
  t.equal((await ask(engine, second, now())).outcome, 'admitted');
});

t.test('greedy: what all keys bring home leaves the bucket of their customer empty at the most', async (t) => {
  const { server, engine } = await startGateway(t);
  const { id } = await newCustomer(engine, 'trickle');
  const [first, second] = [await keyOf(engine, id), await keyOf(engine, id)];
  for (const key of [first, second]) await ask(engine, key, now(), { cost: 0 });
  await learnt(engine, first, second);
  await outageBegins(server, engine);
  t.equal(count(await askMany(engine, first, 4, now() - DAY_MS), 'admitted'), 3);
  t.equal(count(await askMany(engine, second, 4, now()), 'admitted'), 3, 'a day later all has come back');
  await outageEnds(server, engine);
  for (const key of [first, second])
    await until(`all of ${key.id} is in the ledger`, async () => (await ledgerOf(engine, key)).requests === 3);
  const day = windowOf(standing(await ask(engine, second, now(), { cost: 0 })), 'day');
  t.equal(day.remaining, 0);
  t.ok(day.resetAtMs <= now() + DAY_MS, 'nothing is owed beyond that', { owedMs: day.resetAtMs - now() });
});
