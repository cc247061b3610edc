import type { Test } from 'tap';
import { DAY_MS, MINUTE_MS } from '../../src/gateway/admission/bucket.js';
import { windowsOfHold } from '../../src/gateway/admission/settlement.js';
import type { AdmissionEngine } from '../../src/gateway/store/port.js';
import type { UsageRow } from '../../src/gateway/store/records/counts.js';
import {
  ask,
  askMany,
  change,
  count,
  DAY_START_MS,
  dayName,
  freshId,
  keyOf,
  liftBan,
  newCustomer,
  newKey,
  NOON_MS,
  rowsOf,
  standing,
} from './cast.js';
import { createReporter } from '../../src/gateway/store/settlements.js';
import { CREATE, LIST, READ } from './names.js';

const reportsOf = createReporter();

const TODAY = dayName(NOON_MS);
const TOMORROW = dayName(NOON_MS + DAY_MS);

function row(key: string, changes: Partial<UsageRow>): UsageRow {
  return {
    key,
    plan: 'free',
    operation: LIST,
    day: TODAY,
    requests: 0,
    units: changes.requests ?? 0,
    returned: 0,
    limited: 0,
    banned: 0,
    failed: 0,
    ...changes,
  };
}

/** The usage ledger: what it counts, per key, plan, operation and UTC day. */
export function ledger(t: Test, engine: AdmissionEngine): void {
  t.test('the ledger is what was admitted, refused and banned, per plan, operation and UTC day', async (t) => {
    const key = await newKey(engine, 'free');
    await askMany(engine, key, 7, NOON_MS);
    await askMany(engine, key, 3, NOON_MS, { operation: CREATE });
    await ask(engine, key, NOON_MS, { operation: 'unmatched' });
    await ask(engine, key, NOON_MS, { operation: READ, cost: 0 });
    const flood = await askMany(engine, key, 100, NOON_MS + 1);
    await change(engine, key, { plan: 'pro' });
    await liftBan(engine, key);
    await askMany(engine, key, 2, DAY_START_MS + DAY_MS - 1);
    await askMany(engine, key, 4, DAY_START_MS + DAY_MS);
    t.same(await rowsOf(engine, TODAY, TOMORROW, key.id), [
      row(key.id, { operation: CREATE, requests: 3 }),
      row(key.id, {
        requests: 7 + count(flood, 'admitted'),
        limited: count(flood, 'limited'),
        banned: count(flood, 'banned'),
      }),
      row(key.id, { operation: 'unmatched', requests: 1 }),
      row(key.id, { plan: 'pro', requests: 2 }),
      row(key.id, { plan: 'pro', requests: 4, day: TOMORROW }),
    ]);
    t.same([count(flood, 'admitted'), count(flood, 'limited'), count(flood, 'banned')], [49, 29, 22]);
  });

  t.test('a range has both its ends and nothing else', async (t) => {
    const key = await newKey(engine, 'free');
    for (let day = 0; day < 5; day += 1) await ask(engine, key, NOON_MS + day * DAY_MS);
    const days = async (from: number, to: number): Promise<readonly string[]> =>
      (await rowsOf(engine, dayName(NOON_MS + from * DAY_MS), dayName(NOON_MS + to * DAY_MS), key.id)).map(
        (each) => each.day,
      );
    t.same(
      await days(1, 3),
      [1, 2, 3].map((day) => dayName(NOON_MS + day * DAY_MS)),
    );
    t.same(await days(4, 4), [dayName(NOON_MS + 4 * DAY_MS)]);
    t.same(await days(5, 9), []);
    t.same(await days(3, 1), []);
  });

  t.test('all keys are listed, an address never', async (t) => {
    const keys = await Promise.all(Array.from({ length: 20 }, () => newKey(engine, 'free')));
    const day = 400 + Math.floor(Math.random() * 10_000);
    const atMs = NOON_MS + day * DAY_MS;
    await Promise.all(keys.map((key, n) => askMany(engine, key, n + 1, atMs)));
    await askMany(engine, { kind: 'address', address: '203.0.113.9' }, 3, atMs);
    const rows = await rowsOf(engine, dayName(atMs), dayName(atMs));
    const expected = keys
      .map((key, n) => row(key.id, { day: dayName(atMs), requests: n + 1 }))
      .sort((a, b) => (a.key < b.key ? -1 : 1));
    t.same(rows, expected);
  });

  t.test('all rows of a key come together, keys by id, days in order, also over many days', async (t) => {
    const keys = await Promise.all(Array.from({ length: 7 }, () => newKey(engine, 'free')));
    const firstMs = NOON_MS + (20_000 + Math.floor(Math.random() * 10_000)) * DAY_MS;
    for (let day = 0; day < 70; day += 1) {
      const asked = keys.filter((_, n) => (day + n) % 3 !== 0);
      await engine.admit(
        asked.flatMap((key) =>
          [LIST, CREATE].map((operation) => ({
            subject: key.subject,
            operation,
            scope: null,
            cost: 1,
            nowMs: firstMs + day * DAY_MS,
          })),
        ),
      );
    }
    const found: UsageRow[] = [];
    for await (const batch of engine.usage.rows(dayName(firstMs), dayName(firstMs + 69 * DAY_MS))) {
      t.ok(batch.length > 0 && batch.length < 1_000, 'a small batch at a time');
      // Other tests count on days to come as well.
      found.push(...batch.filter(({ key }) => keys.some(({ id }) => id === key)));
    }
    const places = found.map(({ key, day }) => `${key} ${day}`);
    t.same(places, [...places].sort());
    t.equal(
      new Set(found.map(({ key, day, operation }) => `${key} ${day} ${operation}`)).size,
      found.length,
      'no row twice',
    );
    t.equal(
      found.length,
      keys.flatMap((_, n) => Array.from({ length: 70 }, (_day, day) => (day + n) % 3 !== 0)).filter(Boolean).length * 2,
    );
  });

  t.test('failures count beside requests, on the day of the admission', async (t) => {
    const key = await newKey(engine, 'free');
    await askMany(engine, key, 5, NOON_MS);
    const failure = { keyId: key.id, plan: 'free', operation: LIST, admittedAtMs: NOON_MS, isFailed: true };
    await engine.settle(reportsOf([failure, failure, { ...failure, admittedAtMs: NOON_MS + DAY_MS, isFailed: true }]));
    await engine.settle(reportsOf([failure, { ...failure, operation: READ }]));
    await engine.settle(reportsOf([]));
    t.same(await rowsOf(engine, TODAY, TOMORROW, key.id), [
      row(key.id, { operation: READ, failed: 1 }),
      row(key.id, { requests: 5, failed: 3 }),
      row(key.id, { day: TOMORROW, failed: 1 }),
    ]);
  });

  t.test('a hold is settled once, in the windows it was taken from and in the ledger of its day', async (t) => {
    const customer = await newCustomer(engine, 'monthly');
    const [one, other] = [await keyOf(engine, customer.id), await keyOf(engine, customer.id)];
    for (const key of [await newKey(engine, 'monthly'), one]) {
      const hold = standing(await ask(engine, key, NOON_MS, { cost: 12 }));
      const ended = { keyId: key.id, plan: 'monthly', operation: LIST, admittedAtMs: NOON_MS, isFailed: true };
      const settlement = { units: -7, windows: windowsOfHold(hold) };
      const reports = reportsOf([{ ...ended, settlement }]);
      await engine.settle(reports);
      await engine.settle(reports);
      const left = standing(await ask(engine, key === one ? other : key, NOON_MS + 1, { cost: 0 }));
      t.same(
        left.windows.map(({ remaining }) => remaining),
        [55, 995, 15],
        'seven of twelve come back, once',
      );
      const expected = { plan: 'monthly', requests: 1, units: 12, returned: 7, failed: 1 };
      t.same(await rowsOf(engine, TODAY, TOMORROW, key.id), [row(key.id, expected)]);
    }
  });

  t.test('what comes back after its window is over is counted, and opens no other window', async (t) => {
    const key = await newKey(engine, 'monthly');
    const hold = standing(await ask(engine, key, NOON_MS, { cost: 12 }));
    await ask(engine, key, NOON_MS + DAY_MS, { cost: 3 });
    const settlement = { units: -7, windows: windowsOfHold(hold) };
    const ended = { keyId: key.id, plan: 'monthly', operation: LIST, admittedAtMs: NOON_MS, isFailed: false };
    await engine.settle(reportsOf([{ ...ended, settlement }]));
    const left = standing(await ask(engine, key, NOON_MS + DAY_MS, { cost: 0 }));
    const isSameMonth = new Date(NOON_MS).getUTCMonth() === new Date(NOON_MS + DAY_MS).getUTCMonth();
    t.same(
      left.windows.map(({ remaining }) => remaining),
      [57, 997, isSameMonth ? 12 : 17],
      'only the month is still the same',
    );
    t.match(await rowsOf(engine, TODAY, TODAY, key.id), [{ units: 12, returned: 7 }]);
  });

  t.test('many requests at once leave exactly as many tokens and counts', async (t) => {
    const key = await newKey(engine, 'pro');
    const batches = await Promise.all(
      Array.from({ length: 40 }, (_, n) => askMany(engine, key, 10 + (n % 3), NOON_MS + n)),
    );
    const verdicts = batches.flat();
    t.equal(count(verdicts, 'admitted'), 300);
    const [only] = await rowsOf(engine, TODAY, TODAY, key.id);
    t.same([only?.requests, only?.limited, only?.banned], [300, count(verdicts, 'limited'), count(verdicts, 'banned')]);
    t.equal(verdicts.length, 40 * 10 + 13 + 2 * 13);
  });

  t.test('a batch larger than any other is decided whole', async (t) => {
    const key = await newKey(engine, 'pro');
    const others = await Promise.all([newKey(engine, 'free'), newKey(engine, 'calm')]);
    const subjects = Array.from({ length: 700 }, (_, n) => (n % 2 === 0 ? key : others[n % 4 === 1 ? 0 : 1]));
    const verdicts = await engine.admit(
      subjects.map((who) => ({
        subject: who.subject,
        operation: LIST,
        scope: null,
        cost: 1,
        nowMs: NOON_MS + MINUTE_MS,
      })),
    );
    const admitted = (who: { id: string }): number =>
      verdicts.filter((verdict) => verdict.outcome === 'admitted' && verdict.keyId === who.id).length;
    t.same([admitted(key), admitted(others[0]), admitted(others[1])], [300, 60, 3]);
  });

  t.test('a key nobody knows has no rows', async (t) => {
    t.same(await rowsOf(engine, TODAY, TOMORROW, freshId()), []);
  });
}
