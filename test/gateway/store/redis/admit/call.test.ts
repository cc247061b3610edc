import t from 'tap';
import { MAX_COST } from '../../../../../src/gateway/admission/bucket.js';
import { dayName, newKey, NOON_MS, rowsOf, standing } from '../../../../conformance/cast.js';
import { redisEngineFor } from '../../../../conformance/redis-engine.js';

/** Above 128: their places in a call have two digits. */
const OPERATIONS = 150;
/** Twice each, and more than a script run takes. */
const REQUESTS = 2 * OPERATIONS;
/** Of one digit, two and three, up to the most. */
const COSTS = [0, 1, 2, 127, 128, 16_383, 16_384, MAX_COST];

const operationOf = (n: number): string => `operation-${n % OPERATIONS}`;
const scopeOf = (n: number): string => `scope-${n % OPERATIONS}`;
const costOf = (n: number): number => COSTS[n % COSTS.length]!;
/** Half of a batch names its time, as only tests do; a call of both kinds reads as one. */
const timeOf = (n: number, today: boolean): { readonly nowMs?: number } =>
  today ? {} : { nowMs: n < OPERATIONS ? NOON_MS : NOON_MS + 1 };

for (const today of [true, false])
  t.test(`a batch of many operations is read as it was written, ${today ? 'today' : 'on another day'}`, async (t) => {
    const { engine } = await redisEngineFor(t);
    const scopes = Array.from({ length: OPERATIONS }, (_, n) => scopeOf(n)).filter((_, n) => n % 3 > 0);
    const from = dayName(today ? Date.now() : NOON_MS);
    const { id, subject } = await newKey(engine, 'open', { scopes });
    const verdicts = await engine.admit(
      Array.from({ length: REQUESTS }, (_, n) => ({
        ...{ subject, operation: operationOf(n), scope: scopeOf(n), cost: costOf(n) },
        ...timeOf(n, today),
      })),
    );
    t.strictSame(
      verdicts.map((verdict) => [verdict.outcome, standing(verdict).cost, standing(verdict).inScope]),
      Array.from({ length: REQUESTS }, (_, n) => ['admitted', costOf(n), (n % OPERATIONS) % 3 > 0]),
    );

    const wanted = new Map<string, [requests: number, units: number]>();
    for (let n = 0; n < REQUESTS; n += 1) {
      if (costOf(n) === 0) continue;
      const [requests, units] = wanted.get(operationOf(n)) ?? [0, 0];
      wanted.set(operationOf(n), [requests + 1, units + costOf(n)]);
    }
    const rows = await rowsOf(engine, from, dayName(today ? Date.now() : NOON_MS), id);
    t.strictSame(new Map(rows.map(({ operation, requests, units }) => [operation, [requests, units]])), wanted);
  });

t.test('a month begins with the calendar: units spent today count whatever the clock that is asked', async (t) => {
  const { engine } = await redisEngineFor(t);
  const { subject } = await newKey(engine, 'monthly');
  const spend = async (time: { readonly nowMs?: number }): Promise<number | undefined> => {
    const [verdict] = await engine.admit([{ subject, operation: 'listPets', scope: null, cost: 1, ...time }]);
    return standing(verdict!).windows.find(({ name }) => name === 'month')?.remaining;
  };
  t.equal(await spend({}), 19);
  t.equal(await spend({ nowMs: Date.now() }), 18);
  t.equal(await spend({}), 17);
});
