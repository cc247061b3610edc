import type { Test } from 'tap';
import { windowsOfHold } from '../../src/gateway/admission/settlement.js';
import { Overdrawn } from '../../src/gateway/store/records/conflicts.js';
import type { AdmissionEngine } from '../../src/gateway/store/port.js';
import { createReporter } from '../../src/gateway/store/settlements.js';
import { DAY_MS } from '../../src/gateway/admission/bucket.js';
import { ask, askMany, freshCustomerId, keyOf, newCustomer, newKey, NOON_MS, standing, type Actor } from './cast.js';
import { LIST } from './names.js';

const reportsOf = createReporter();
const YEAR_MS = 366 * DAY_MS;

/** A balance that only credits raise. */
export function balance(t: Test, engine: AdmissionEngine): void {
  /** Sets the sum of credits, as a credit of `units` does. */
  const credit = async (key: Actor, units: number): Promise<void> => {
    const sum = (key.record.credited ?? 0) + units;
    const record = { ...key.record, credited: sum, version: key.record.version + 1 };
    await engine.keys.write(record, {
      ...{ atMs: NOON_MS, action: 'credited' },
      changed: { credit: `inv-${record.version}`, units, sum },
    });
    key.record = record;
  };
  const left = async (key: Actor, nowMs = NOON_MS): Promise<number> =>
    standing(await ask(engine, key, nowMs, { cost: 0 })).windows.at(-1)!.remaining;

  t.test('as many units are spent as were credited, and time does not bring them back', async (t) => {
    const key = await newKey(engine, 'prepaid');
    t.match(await ask(engine, key, NOON_MS), { outcome: 'limited', violated: 'balance' }, 'nothing without a credit');
    await credit(key, 5);
    const verdicts = await askMany(engine, key, 7, NOON_MS);
    t.same(
      verdicts.map(({ outcome }) => outcome),
      ['admitted', 'admitted', 'admitted', 'admitted', 'admitted', 'limited', 'limited'],
    );
    const refused = { outcome: 'limited', violated: 'balance', exceeds: true };
    const balance = { name: 'balance', per: 'balance', limit: 5, remaining: 0 };
    t.match(await ask(engine, key, NOON_MS + YEAR_MS), { ...refused, windows: [{}, {}, balance] });
    await credit(key, 2);
    t.equal(await left(key, NOON_MS + YEAR_MS), 2);
    t.match(await ask(engine, key, NOON_MS + YEAR_MS, { cost: 3 }), refused, 'more than is left');
    t.match(await ask(engine, key, NOON_MS + YEAR_MS, { cost: 2 }), { outcome: 'admitted' });
  });

  t.test('refusals of a spent balance never ban', async (t) => {
    const key = await newKey(engine, 'prepaid');
    for (const verdict of await askMany(engine, key, 30, NOON_MS)) t.match(verdict, { outcome: 'limited' });
    await credit(key, 1);
    t.match(await ask(engine, key, NOON_MS), { outcome: 'admitted' });
  });

  t.test('what is spent cannot be taken back', async (t) => {
    const key = await newKey(engine, 'prepaid');
    await credit(key, 5);
    await ask(engine, key, NOON_MS, { cost: 3 });
    await t.rejects(credit(key, -3), Overdrawn);
    t.equal(await left(key), 2, 'and a refused credit changes nothing');
    t.equal((await engine.keys.read(key.id))?.credited, 5);
    await credit(key, -2);
    t.equal(await left(key), 0);
  });

  t.test('keys of a customer spend from one balance', async (t) => {
    const customer = await newCustomer(engine, 'prepaid', { id: freshCustomerId(), credited: 3 });
    const [one, other] = [await keyOf(engine, customer.id), await keyOf(engine, customer.id)];
    const requests = [one, other, one, other].map(({ subject }) => ({
      ...{ subject, operation: LIST, scope: null, cost: 1, nowMs: NOON_MS },
    }));
    const outcomes = (await engine.admit(requests)).map(({ outcome }) => outcome);
    t.same(outcomes, ['admitted', 'admitted', 'admitted', 'limited']);
  });

  t.test('a settlement gives back to the balance, or spends more than there is', async (t) => {
    const key = await newKey(engine, 'prepaid');
    await credit(key, 10);
    const hold = standing(await ask(engine, key, NOON_MS, { cost: 8 }));
    const ended = { keyId: key.id, plan: 'prepaid', operation: LIST, admittedAtMs: NOON_MS, isFailed: false };
    await engine.settle(reportsOf([{ ...ended, settlement: { units: -7, windows: windowsOfHold(hold) } }]));
    t.equal(await left(key, NOON_MS + YEAR_MS), 9);
    await engine.settle(reportsOf([{ ...ended, settlement: { units: 20, windows: windowsOfHold(hold) } }]));
    t.equal(await left(key), 0);
    await credit(key, 12);
    t.equal(await left(key), 1, 'and later credits pay for that first');
  });

  t.test('more than the other limits can be credited, and other plans leave it as it is', async (t) => {
    const key = await newKey(engine, 'prepaid');
    await credit(key, 999_999_999_999);
    await ask(engine, key, NOON_MS, { cost: 1_000_000 });
    t.equal(await left(key), 999_998_999_999);
    const { version } = key.record;
    key.record = { ...key.record, plan: 'open', version: version + 1 };
    await engine.keys.write(key.record, { atMs: NOON_MS, action: 'changed', changed: {} });
    t.match(await ask(engine, key, NOON_MS + DAY_MS), { outcome: 'admitted', windows: { length: 2 } });
    key.record = { ...key.record, plan: 'prepaid', version: version + 2 };
    await engine.keys.write(key.record, { atMs: NOON_MS, action: 'changed', changed: {} });
    t.equal(await left(key, NOON_MS + YEAR_MS), 999_998_999_999);
  });

  t.test('a snapshot has the balance and what is spent of it', async (t) => {
    const key = await newKey(engine, 'prepaid');
    await credit(key, 10);
    await ask(engine, key, NOON_MS, { cost: 4 });
    const before = key.id.slice(0, -1) + String.fromCharCode(key.id.charCodeAt(key.id.length - 1) - 1);
    const [snapshot] = await engine.keys.snapshots(before, 1, '2026-01-01');
    t.match(snapshot, { record: { id: key.id, credited: 10 } });
    t.equal(snapshot!.state.operationWindows?.get('balance')?.level, 4);
    t.same(await engine.keys.restore([snapshot!]), ['unchanged']);
    t.equal(await left(key), 6);
  });
}
