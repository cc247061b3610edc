import t from 'tap';
import type { Test } from 'tap';
import type { Grant } from '../../../../src/gateway/store/records/grant.js';
import { EVERY_OPERATION } from '../../../../src/gateway/admission/windows.js';
import {
  ask,
  askMany,
  change,
  count,
  keyOf,
  limited,
  newCustomer,
  newKey,
  standing,
} from '../../../conformance/cast.js';
import { until } from '../../../servers/until.js';
import { durableRedis, learnt, ledgerOf, openGateway, outageBegins, outageEnds, startGateway } from './fixture.js';
import { byName, othersOf } from '../../admission/verdict.js';

const now = (): number => Date.now();
const HOUR_MS = 3_600_000;

function grant(window: Grant['window'], units: number, untilMs: number): Grant {
  return { id: 2, window, units, untilMs, note: 'for the launch of Ada', actor: 'ops', atMs: now() };
}

t.test('while Redis is unavailable what is granted is shared like the limit, and comes home', async (t: Test) => {
  const { server, engine } = await startGateway(t, { gateways: 2 });
  const lone = await newKey(engine, 'monthly', { grants: [grant('month', 5, now() + HOUR_MS)] });
  const customer = await newCustomer(engine, 'monthly', { grants: [grant('month', 5, now() + HOUR_MS)] });
  const owned = await keyOf(engine, customer.id);
  for (const key of [lone, owned]) t.equal(count(await askMany(engine, key, 4, now()), 'admitted'), 4);
  await learnt(engine, lone, owned);
  await until('the customer is copied', () => engine.cached(customer.id)?.record.version === 1);
  await outageBegins(server, engine);
  for (const key of [lone, owned]) {
    t.equal(count(await askMany(engine, key, 12, now()), 'admitted'), 10, 'half of the 21 that were left');
    const here = standing(await ask(engine, key, now(), { operation: EVERY_OPERATION, cost: 0 }));
    t.match(othersOf(here), [{ name: 'month', limit: 12, remaining: 0, granted: { units: 2 } }], 'half of 25, for now');
  }
  await outageEnds(server, engine);
  for (const key of [lone, owned]) {
    await until(`all of ${key.id} is in the ledger`, async () => (await ledgerOf(engine, key)).requests === 14);
    const shown = standing(await ask(engine, key, now(), { operation: EVERY_OPERATION, cost: 0 }));
    t.match(othersOf(shown), [{ name: 'month', limit: 25, remaining: 11 }]);
  }
});

t.test('a grant that ends while Redis is unavailable leaves what its limit leaves', async (t: Test) => {
  const { server, engine } = await startGateway(t);
  const endMs = now() + 2_500;
  const key = await newKey(engine, 'monthly', { grants: [grant('month', 50, endMs)] });
  const other = await newKey(engine, 'monthly', { grants: [grant('month', 50, endMs)] });
  t.equal(count(await askMany(engine, key, 30, now()), 'admitted'), 30);
  t.equal(count(await askMany(engine, other, 12, now()), 'admitted'), 12);
  await learnt(engine, key, other);
  await outageBegins(server, engine);
  await until('the grant has ended', () => now() >= endMs);
  const spent = limited(await ask(engine, key, now()));
  t.match(
    byName(spent),
    { violated: 'month', windows: { month: { limit: 20, remaining: 0 } } },
    'thirty of twenty are spent',
  );
  t.equal(count(await askMany(engine, other, 12, now()), 'admitted'), 8, 'twelve of twenty were');
});

t.test('copies hold no names, and follow what is granted elsewhere', async (t: Test) => {
  const server = await durableRedis(t);
  const here = openGateway(t, server);
  const there = openGateway(t, server, { maintains: false });
  const customer = await newCustomer(there.engine, 'free', { name: 'Ada', reference: 'A-1', note: 'Ada' });
  const keys = [
    await newKey(there.engine, 'free', { name: 'Ada', note: 'Ada' }),
    await keyOf(there.engine, customer.id, { name: 'Ada' }),
  ];
  for (const key of keys) await ask(here.engine, key, now());
  await learnt(here.engine, ...keys);
  await change(there.engine, keys[0]!, { grants: [grant('day', 5, now() + HOUR_MS)] });
  await until('the grant is copied', () => here.engine.cached(keys[0]!.id)?.record.grants?.length === 1);
  await until('the customer is copied', () => here.engine.cached(customer.id)?.record.version === 1);
  const copies = [...keys.map(({ id }) => here.engine.cached(id)), here.engine.cached(customer.id)];
  t.notMatch(JSON.stringify(copies), /(?:Ada|A-1)["\\]/);
  await outageBegins(server, here.engine);
  const verdict = byName(await ask(here.engine, keys[0]!, now()));
  t.match(verdict, { outcome: 'admitted', windows: { day: { limit: 1_005 } } });
});
