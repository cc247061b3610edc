import t from 'tap';
import { StoreUnavailable } from '../../../../src/gateway/admission/port.js';
import type { AdmissionEngine } from '../../../../src/gateway/store/port.js';
import { termsOf } from '../../../../src/gateway/admission/plan.js';
import { EVERY_OPERATION, operationTerms } from '../../../../src/gateway/admission/windows.js';
import { ask, askMany, change, count, limited, newKey, PLANS, requestOf, standing } from '../../../conformance/cast.js';
import type { Actor } from '../../../conformance/cast.js';
import { until } from '../../../servers/until.js';
import { learnt, ledgerOf, outageBegins, outageEnds, startGateway } from './fixture.js';

const now = (): number => Date.now();
const createPet = { operation: 'createPet' };

/** What is left of each window of the plan `priced`, by name. */
async function leftOf(engine: AdmissionEngine, key: Actor): Promise<Readonly<Record<string, number>>> {
  const [, ...windows] = standing(await ask(engine, key, now(), { operation: EVERY_OPERATION, cost: 0 })).windows;
  return Object.fromEntries(windows.map(({ name, remaining }) => [name, remaining]));
}

t.test('every window is shared, near what Redis last showed, and what was spent here comes home', async (t) => {
  const { server, engine } = await startGateway(t, { gateways: 2 });
  const key = await newKey(engine, 'priced');
  t.equal((await ask(engine, key, now(), createPet)).outcome, 'admitted');
  t.match(await leftOf(engine, key), { day: 195, month: 995, 'createPet-day': 25 });
  // The last that Redis shows is about another operation.
  await ask(engine, key, now());
  await learnt(engine, key);
  await outageBegins(server, engine);
  const writes = await askMany(engine, key, 3, now(), createPet);
  t.equal(count(writes, 'admitted'), 1, 'half of the ten units a minute that were left');
  t.match(limited(writes[2]!), { violated: 'createPet-minute', cost: 5 });
  t.equal(count(await askMany(engine, key, 3, now()), 'admitted'), 3);
  t.match(await leftOf(engine, key), { month: 497 - 8, 'createPet-day': 12 - 5 });
  await outageEnds(server, engine);
  await until('all is in the ledger', async () => (await ledgerOf(engine, key)).requests === 6);
  t.match(await ledgerOf(engine, key), { requests: 6, units: 14, returned: 0, limited: 2 });
  t.match(await leftOf(engine, key), { day: 200 - 14, month: 1_000 - 14, 'createPet-day': 30 - 10 });
});

t.test('a month counts what was spent here too, also on a plan without one', async (t) => {
  const { server, engine } = await startGateway(t);
  const key = await newKey(engine, 'free');
  await askMany(engine, key, 2, now());
  await learnt(engine, key);
  await outageBegins(server, engine);
  t.equal(count(await askMany(engine, key, 5, now(), { cost: 2 }), 'admitted'), 5);
  await outageEnds(server, engine);
  await until('all is in the ledger', async () => (await ledgerOf(engine, key)).requests === 7);
  await change(engine, key, { plan: 'monthly' });
  t.match(await leftOf(engine, key), { month: 20 - 12 });
});

t.test('what costs more than a share can not be decided here', async (t) => {
  const { server, engine } = await startGateway(t, { gateways: 16 });
  const key = await newKey(engine, 'priced');
  await ask(engine, key, now());
  await learnt(engine, key);
  await outageBegins(server, engine);
  const requests = [requestOf(key.subject, now(), createPet), requestOf(key.subject, now())];
  const error: unknown = await engine.admit(requests).catch((reason: unknown) => reason);
  if (!(error instanceof StoreUnavailable)) throw new Error('expected StoreUnavailable');
  t.same(
    error.decided.map((verdict) => verdict?.outcome),
    [undefined, 'admitted'],
    'a share of nothing does not pay for five',
  );
  t.match(await leftOf(engine, key), { 'createPet-minute': 0, 'createPet-day': 1 }, 'and is shown all the same');
});

for (const operation of ['createPet', 'GET /d/{d} "é|\\']) {
  t.test(`a spool is taken once: units, and the windows of day and month (${operation})`, async (t) => {
    const { redis, engine } = await startGateway(t);
    const plans = new Map(PLANS);
    plans.set('priced', {
      ...PLANS.get('priced')!,
      operations: operationTerms({ [operation]: { cost: 5, minute: 15, day: 30 } }),
    });
    engine.setPlans(plans);
    const key = await newKey(engine, 'priced');
    await ask(engine, key, now(), { operation });
    const take = (requests: number): Promise<void> =>
      redis.fleet.take('spool', {
        keyId: key.id,
        terms: termsOf(plans, 'priced', null),
        rows: [
          {
            ...{ key: key.id, plan: 'priced', operation, day: new Date().toISOString().slice(0, 10) },
            ...{ requests, units: 5 * requests, returned: 0, limited: 0, banned: 0, failed: 0 },
          },
        ],
      });
    for (const requests of [1, 1, 2, 1, 2]) await take(requests);
    t.match(await ledgerOf(redis, key), { requests: 3, units: 15 });
    t.match(await leftOf(redis, key), { day: 185, month: 985, [`${operation}-day`]: 15 });
    t.equal((await ask(redis, key, now(), { operation })).outcome, 'admitted', 'the minute is not known of');
  });
}
