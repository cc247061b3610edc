import t from 'tap';
import type { Test } from 'tap';
import type { RedisEngine } from '../../../../../src/gateway/store/redis/engine.js';
import { ANONYMOUS_PLAN, MAX_PLANS, type Plan, type Plans } from '../../../../../src/gateway/admission/plan.js';
import { operationTerms } from '../../../../../src/gateway/admission/windows.js';
import { ask, newKey } from '../../../../conformance/cast.js';
import { redisEngineFor } from '../../../../conformance/redis-engine.js';
import { NO_BAN } from '../../../admission/ban.js';

/** So many plans, each with figures of its own: limits, a month, prices and windows of four operations. */
function manyPlans(count: number, ending = ''): Plans {
  const limits = { minute: 300, day: 10_000 };
  const anonymous: Plan = { name: ANONYMOUS_PLAN, limits, refill: 'interval', ban: NO_BAN };
  const plans = Array.from({ length: count - 1 }, (_, n): [string, Plan] => {
    const windows = { minute: 100 + n, day: 3_000 + n, month: 20_000 + n };
    const operations = operationTerms({
      listPets: { cost: 1 + (n % 7), ...windows },
      getPet: { cost: 2, ...windows },
      createPet: { cost: 5, ...windows },
      listOrders: { cost: 3, ...windows },
    });
    const own = { minute: 1_000 + n, day: 20_000 + n, month: 300_000 + n };
    const name = `plan-${n}${ending}`;
    return [name, { name, limits: own, refill: 'interval', ban: NO_BAN, operations }];
  });
  return new Map([[ANONYMOUS_PLAN, anonymous], ...plans]);
}

async function open(t: Test, plans: Plans): Promise<RedisEngine> {
  const { engine } = await redisEngineFor(t, { plans });
  return engine;
}

for (const count of [20, 300, MAX_PLANS])
  t.test(`${count} plans with four prices each: every key has the figures of its own`, async (t) => {
    const engine = await open(t, manyPlans(count));
    await engine.check();
    for (const n of [0, 1, 254, 255, 256, 290, 511, 512, count - 2]) {
      if (n > count - 2) continue;
      const key = await newKey(engine, `plan-${n}`);
      const cost = 1 + (n % 7);
      t.match(
        await ask(engine, key, Date.now(), { operation: 'listPets' }),
        {
          outcome: 'admitted',
          plan: `plan-${n}`,
          cost,
          windows: [
            { name: 'minute', limit: 1_000 + n, remaining: 1_000 + n - cost },
            { name: 'day', limit: 20_000 + n },
            { name: 'month', limit: 300_000 + n, remaining: 300_000 + n - cost },
            { name: 'listPets-minute', limit: 100 + n, remaining: 100 + n - cost },
            { name: 'listPets-day', limit: 3_000 + n },
            { name: 'listPets-month', limit: 20_000 + n },
          ],
        },
        `plan ${n}`,
      );
    }
  });

/** More than Lua compiles, for their names end alike; the schema takes no more than MOST_PLANS. */
const TOO_MANY: Plans = new Map(
  [...manyPlans(10_000, 'x')].map(([name, plan]) => [name, { ...plan, operations: undefined }]),
);

t.test('what Redis refuses to load is told before it is in force, and what is in force goes on', async (t) => {
  const engine = await open(t, manyPlans(20));
  const key = await newKey(engine, 'plan-7');
  t.match(await engine.refusal(TOO_MANY), /^ERR Error compiling script/);
  t.equal(await engine.refusal(manyPlans(30)), null);
  t.equal(engine.unavailable, null, 'it is no fault of the store');
  t.match(await ask(engine, key, Date.now(), { operation: 'listPets' }), { outcome: 'admitted', plan: 'plan-7' });
});

t.test('a start that Redis refuses says so', async (t) => {
  const engine = await open(t, TOO_MANY);
  await t.rejects(engine.check(), /Redis refuses the admission script: fewer plans or operation costs make it smaller/);
});
