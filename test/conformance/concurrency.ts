import type { Test } from 'tap';
import { LEASE_MS } from '../../src/gateway/admission/leases.js';
import type { Grant } from '../../src/gateway/store/records/grant.js';
import type { AdmissionEngine } from '../../src/gateway/store/port.js';
import { createReporter } from '../../src/gateway/store/settlements.js';
import { until } from '../servers/until.js';
import { ask, askMany, keyOf, newCustomer, newKey, NOON_MS, rowsOf, standing, dayName, type Actor } from './cast.js';
import { LIST } from './names.js';

const reportsOf = createReporter();
/** What the plan `crowd` allows. */
const AT_ONCE = 2;

/** How many requests may be in flight. */
export function concurrency(t: Test, engine: AdmissionEngine): void {
  /** Admits a request; returns its lease. */
  const begin = async (key: Actor, nowMs: number): Promise<number> => {
    const verdict = standing(await ask(engine, key, nowMs));
    if (verdict.outcome !== 'admitted' || verdict.lease === undefined) throw new Error(`it is ${verdict.outcome}`);
    return verdict.lease;
  };
  const end = (key: Actor, lease: number): Promise<void> =>
    engine.settle(
      reportsOf([{ keyId: key.id, plan: 'crowd', operation: LIST, admittedAtMs: NOON_MS, isFailed: false, lease }]),
    );

  t.test(
    'as many requests are in flight as the plan allows; one more is refused, free and without a strike',
    async (t) => {
      const key = await newKey(engine, 'crowd');
      const first = await begin(key, NOON_MS);
      await begin(key, NOON_MS);
      const refused = await askMany(engine, key, 20, NOON_MS + 1);
      for (const verdict of refused)
        t.match(verdict, {
          outcome: 'limited',
          violated: 'concurrency',
          retryAtMs: NOON_MS + 1_001,
          exceeds: false,
          concurrency: AT_ONCE,
          windows: [{ remaining: 98 }],
        });
      t.match(await ask(engine, key, NOON_MS, { cost: 0 }), { outcome: 'admitted' }, 'what is free is not counted');
      await end(key, first);
      await begin(key, NOON_MS + 2);
      t.match(await ask(engine, key, NOON_MS + 3), { outcome: 'limited' });
      t.match(await rowsOf(engine, dayName(NOON_MS), dayName(NOON_MS), key.id), [
        { requests: 3, units: 3, limited: 21 },
      ]);
    },
  );

  t.test('a key or customer with limits of its own may have its own number, next to a month and grants', async (t) => {
    const limits = { minute: 100, day: 1_000 };
    const [note, actor, atMs] = ['', 'ops', NOON_MS];
    const grant: Grant = { id: 1, window: 'day', units: 5, untilMs: NOON_MS + 1, note, actor, atMs };
    for (const terms of [
      { limits: { ...limits, concurrency: 1 } },
      { limits: { ...limits, concurrency: 1, month: 2_000 } },
      { limits: { ...limits, concurrency: 1 }, grants: [grant] },
    ]) {
      const customer = await newCustomer(engine, 'enterprise', terms);
      for (const key of [await newKey(engine, 'enterprise', terms), await keyOf(engine, customer.id)]) {
        t.match(await ask(engine, key, NOON_MS), { outcome: 'admitted', concurrency: 1, windows: [{ limit: 100 }] });
        t.match(await ask(engine, key, NOON_MS), { outcome: 'limited', violated: 'concurrency' });
      }
    }
    const without = await newKey(engine, 'enterprise', { limits });
    for (const verdict of await askMany(engine, without, 5, NOON_MS)) t.match(verdict, { outcome: 'admitted' });
  });

  t.test('keys of a customer share it, also in one batch', async (t) => {
    const customer = await newCustomer(engine, 'crowd');
    const [one, other] = [await keyOf(engine, customer.id), await keyOf(engine, customer.id)];
    const requests = [one, other, one, other].map(({ subject }) => ({
      ...{ subject, operation: LIST, scope: null, cost: 1, nowMs: NOON_MS },
    }));
    const outcomes = (await engine.admit(requests)).map(({ outcome }) => outcome);
    t.same(outcomes, ['admitted', 'admitted', 'limited', 'limited']);
  });

  t.test(
    'a request of a process that died counts for a minute, and one that is renewed goes on counting',
    async (t) => {
      const key = await newKey(engine, 'crowd');
      const nowMs = Date.now();
      const renewed = await begin(key, nowMs);
      await begin(key, nowMs);
      t.match(await ask(engine, key, nowMs + LEASE_MS - 1), { violated: 'concurrency' });
      await until('a moment has passed', () => Date.now() > nowMs + 2);
      await engine.renew([{ keyId: key.id, id: renewed, isLocal: false }]);
      t.equal(typeof (await begin(key, nowMs + LEASE_MS)), 'number', 'one has ended');
      t.match(await ask(engine, key, nowMs + LEASE_MS), { violated: 'concurrency' }, 'the other has not');
      await end(key, renewed);
      t.equal(typeof (await begin(key, nowMs + LEASE_MS)), 'number');
    },
  );

  t.test('a report that comes twice ends a request once', async (t) => {
    const key = await newKey(engine, 'crowd');
    const first = await begin(key, NOON_MS);
    await end(key, first);
    await begin(key, NOON_MS);
    await begin(key, NOON_MS);
    await end(key, first);
    t.match(await ask(engine, key, NOON_MS), { violated: 'concurrency' });
  });
}
