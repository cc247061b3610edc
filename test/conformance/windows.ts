import type { Test } from 'tap';
import { DAY_MS, MAX_COST, MINUTE_MS } from '../../src/gateway/admission/bucket.js';
import type { AdmissionEngine } from '../../src/gateway/store/port.js';
import { EVERY_OPERATION } from '../../src/gateway/admission/windows.js';
import {
  ask,
  askMany,
  change,
  count,
  custom,
  dayName,
  DAY_START_MS,
  limited,
  newKey,
  NOON_MS,
  rowsOf,
  standing,
} from './cast.js';
import { othersOf, windowOf } from '../gateway/admission/verdict.js';
import { CREATE, LIST, READ } from './names.js';

const MONTH_START_MS = Date.UTC(2026, 11, 1);

function endOfMonth(atMs: number): number {
  const date = new Date(atMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}

/** Windows beside minute and day, and what requests cost. */
export function windows(t: Test, engine: AdmissionEngine): void {
  t.test('a request takes its cost of every window, or nothing of any', async (t) => {
    const key = await newKey(engine, 'free');
    const verdicts = await askMany(engine, key, 400, NOON_MS, { cost: 7 });
    t.equal(count(verdicts, 'admitted'), 8, '8 × 7 of 60');
    const { windows: figures, cost } = standing(verdicts[399]!);
    t.same([...figures.map(({ remaining }) => remaining), cost], [4, 944, 7]);
    t.equal((await ask(engine, await newKey(engine, 'free'), NOON_MS, { cost: 60 })).outcome, 'admitted', 'the whole');
    const [row] = await rowsOf(engine, dayName(NOON_MS), dayName(NOON_MS), key.id);
    t.same([row?.requests, row?.units], [8, 56]);
  });

  t.test('a request that costs more than a window ever holds is refused as such, and is no strike', async (t) => {
    const key = await newKey(engine, 'strict');
    for (let n = 0; n < 10; n += 1) t.ok(limited(await ask(engine, key, NOON_MS + n, { cost: 2 })).exceeds);
    t.equal((await ask(engine, key, NOON_MS + 10)).outcome, 'admitted');
    t.notOk(limited(await ask(engine, key, NOON_MS + 11)).exceeds, 'what a retry can get is another refusal');
    t.ok(limited(await ask(engine, key, NOON_MS + 12, { cost: 2 })).exceeds);
    t.equal((await ask(engine, key, NOON_MS + 13)).outcome, 'limited');
    t.equal((await ask(engine, key, NOON_MS + 14)).outcome, 'banned', 'after three that were');
    const monthly = await newKey(engine, 'monthly');
    t.ok(limited(await ask(engine, monthly, NOON_MS, { cost: 21 })).exceeds, 'a month holds 20');
    t.equal((await ask(engine, monthly, NOON_MS, { cost: 20 })).outcome, 'admitted');
    t.notOk(limited(await ask(engine, monthly, NOON_MS, { cost: 20 })).exceeds);
    const own = await newKey(engine, 'enterprise', { limits: { minute: 'unlimited', day: 7 } });
    t.ok(limited(await ask(engine, own, NOON_MS, { cost: 8 })).exceeds, "a limit of the key's own");
    t.equal((await ask(engine, own, NOON_MS, { cost: 7 })).outcome, 'admitted');
  });

  t.test('what a dear request does not get, a cheap one does', async (t) => {
    const key = await newKey(engine, 'pro');
    await askMany(engine, key, 42, NOON_MS, { cost: 7 });
    const refused = limited(await ask(engine, key, NOON_MS, { cost: 7 }));
    t.same(
      [refused.violated, windowOf(refused, 'minute').remaining, refused.retryAtMs],
      ['minute', 6, NOON_MS + MINUTE_MS],
    );
    t.equal(count(await askMany(engine, key, 10, NOON_MS), 'admitted'), 6);
  });

  t.test('greedy: a retry succeeds when the whole cost is there, and not before', async (t) => {
    const key = await newKey(engine, 'drip');
    await ask(engine, key, NOON_MS, { cost: 5 });
    const { retryAtMs } = limited(await ask(engine, key, NOON_MS, { cost: 4 }));
    t.equal(retryAtMs, NOON_MS + Math.ceil((2 * MINUTE_MS) / 7));
    t.equal((await ask(engine, key, retryAtMs - 1, { cost: 4 })).outcome, 'limited');
    t.equal((await ask(engine, key, retryAtMs, { cost: 4 })).outcome, 'admitted');
  });

  t.test('requests and units stand side by side in the ledger, of mixed costs and days', async (t) => {
    const key = await newKey(engine, 'pro');
    await askMany(engine, key, 3, NOON_MS);
    await askMany(engine, key, 2, NOON_MS, { cost: 10 });
    await askMany(engine, key, 1, NOON_MS, { cost: 5, operation: CREATE });
    await askMany(engine, key, 4, NOON_MS);
    await askMany(engine, key, 2, NOON_MS + DAY_MS);
    await askMany(engine, key, 100, NOON_MS, { cost: 300 });
    const rows = await rowsOf(engine, dayName(NOON_MS), dayName(NOON_MS + DAY_MS), key.id);
    t.same(
      rows.map(({ operation, day, requests, units }) => [operation, day, requests, units]),
      [
        [CREATE, dayName(NOON_MS), 1, 5],
        [LIST, dayName(NOON_MS), 9, 27],
        [LIST, dayName(NOON_MS + DAY_MS), 2, 2],
      ],
    );
  });

  t.test('the dearest request there may be is counted to the unit', async (t) => {
    const key = await newKey(engine, 'enterprise', custom('unlimited', 100_000_000));
    const verdicts = await askMany(engine, key, 101, NOON_MS, { cost: MAX_COST });
    t.equal(count(verdicts, 'admitted'), 100);
    t.equal(windowOf(standing(verdicts[100]!), 'day').remaining, 0);
    const [row] = await rowsOf(engine, dayName(NOON_MS), dayName(NOON_MS), key.id);
    t.same([row?.requests, row?.units], [100, 100 * MAX_COST]);
  });

  t.test('a month is the calendar month of UTC, and comes back as a whole', async (t) => {
    const key = await newKey(engine, 'monthly');
    t.equal(count(await askMany(engine, key, 25, NOON_MS), 'admitted'), 20);
    const refused = limited(await ask(engine, key, NOON_MS));
    const month = othersOf(refused)[0]!;
    t.same([refused.violated, refused.retryAtMs, month.remaining], ['month', endOfMonth(NOON_MS), 0]);
    t.equal((await ask(engine, key, endOfMonth(NOON_MS) - 1)).outcome, 'limited');
    const next = standing(await ask(engine, key, endOfMonth(NOON_MS)));
    t.same([next.outcome, othersOf(next)[0]?.remaining], ['admitted', 19]);
    t.equal(othersOf(next)[0]?.resetAtMs, endOfMonth(endOfMonth(NOON_MS)));
  });

  t.test('months have the length that they have, leap days too', async (t) => {
    for (const [from, to] of [
      [Date.UTC(2028, 1, 1), Date.UTC(2028, 2, 1)],
      [Date.UTC(2028, 1, 29, 23, 59, 59, 999), Date.UTC(2028, 2, 1)],
      [Date.UTC(2027, 1, 28), Date.UTC(2027, 2, 1)],
      [Date.UTC(2100, 1, 28, 12), Date.UTC(2100, 2, 1)],
      [Date.UTC(2027, 3, 30), Date.UTC(2027, 4, 1)],
      [Date.UTC(2027, 11, 31, 23), Date.UTC(2028, 0, 1)],
    ] as const) {
      const key = await newKey(engine, 'monthly');
      t.equal(othersOf(standing(await ask(engine, key, from)))[0]?.resetAtMs, to, new Date(from).toISOString());
      t.equal(othersOf(standing(await ask(engine, key, to - 1)))[0]?.remaining, 18);
      t.equal(othersOf(standing(await ask(engine, key, to)))[0]?.remaining, 19, 'and not a moment later');
    }
  });

  t.test('a month goes on while days turn, and a key is silent', async (t) => {
    const key = await newKey(engine, 'monthly');
    for (let day = 0; day < 28; day += 4) await askMany(engine, key, 2, MONTH_START_MS + day * DAY_MS);
    t.equal(othersOf(standing(await ask(engine, key, MONTH_START_MS + 30 * DAY_MS, { cost: 0 })))[0]?.remaining, 6);
  });

  t.test("an operation's own windows stand beside the others, and other operations don't feel them", async (t) => {
    const key = await newKey(engine, 'priced');
    const writes = await askMany(engine, key, 6, NOON_MS, { operation: CREATE });
    t.equal(count(writes, 'admitted'), 3, 'three of cost 5 a minute of 15');
    const refused = limited(writes[3]!);
    t.same(
      [
        refused.violated,
        windowOf(refused, 'minute').remaining,
        othersOf(refused).map(({ name, remaining }) => [name, remaining]),
      ],
      [
        `${CREATE}-minute`,
        85,
        [
          ['month', 985],
          [`${CREATE}-minute`, 0],
          [`${CREATE}-day`, 15],
        ],
      ],
    );
    const read = standing(await ask(engine, key, NOON_MS));
    t.same([read.outcome, read.cost, othersOf(read).map(({ name }) => name)], ['admitted', 1, ['month']]);
    t.equal(count(await askMany(engine, key, 6, NOON_MS + MINUTE_MS, { operation: CREATE }), 'admitted'), 3);
    t.equal(limited(await ask(engine, key, NOON_MS + 2 * MINUTE_MS, { operation: CREATE })).violated, `${CREATE}-day`);
    t.equal((await ask(engine, key, DAY_START_MS + DAY_MS, { operation: CREATE })).outcome, 'admitted');
  });

  t.test('a plan may let an operation pass for nothing: never refused, never counted', async (t) => {
    const key = await newKey(engine, 'priced');
    await askMany(engine, key, 150, NOON_MS);
    const free = standing(await ask(engine, key, NOON_MS, { operation: READ }));
    t.same([free.cost, windowOf(free, 'minute').remaining], [0, 0]);
    const rows = await rowsOf(engine, dayName(NOON_MS), dayName(NOON_MS), key.id);
    t.same(
      rows.map(({ operation }) => operation),
      [LIST],
    );
  });

  t.test('a look can show the windows of all operations', async (t) => {
    const key = await newKey(engine, 'priced');
    await ask(engine, key, NOON_MS, { operation: CREATE });
    const shown = standing(await ask(engine, key, NOON_MS + 1, { operation: EVERY_OPERATION, cost: 0 }));
    t.same(
      othersOf(shown).map(({ name, remaining }) => [name, remaining]),
      [
        ['month', 995],
        [`${CREATE}-minute`, 10],
        [`${CREATE}-day`, 25],
      ],
    );
  });

  t.test('windows outlive a plan that has none, and a key of its own has a month too', async (t) => {
    const key = await newKey(engine, 'monthly');
    await askMany(engine, key, 8, NOON_MS);
    await change(engine, key, { plan: 'free' });
    await askMany(engine, key, 5, NOON_MS);
    t.same(othersOf(standing(await ask(engine, key, NOON_MS))), []);
    await change(engine, key, { plan: 'monthly' });
    t.equal(
      othersOf(standing(await ask(engine, key, NOON_MS, { cost: 0 })))[0]?.remaining,
      6,
      'what was spent on the plan without a month counts too',
    );
    await change(engine, key, { plan: 'enterprise', limits: { minute: 'unlimited', day: 'unlimited', month: 16 } });
    t.equal(count(await askMany(engine, key, 5, NOON_MS), 'admitted'), 2, '14 were spent on the plans before');
    await change(engine, key, { limits: { minute: 'unlimited', day: 'unlimited', month: 'unlimited' } });
    t.equal(othersOf(standing(await ask(engine, key, NOON_MS)))[0]?.limit, 'unlimited');
    await change(engine, key, { limits: { minute: 'unlimited', day: 'unlimited' } });
    t.same(othersOf(standing(await ask(engine, key, NOON_MS))), []);
    t.same((await engine.keys.read(key.id))?.limits, { minute: 'unlimited', day: 'unlimited' });
  });

  t.test('a month that is added in its midst knows what was spent in it, of every operation and day', async (t) => {
    for (const key of [await newKey(engine, 'free'), await newKey(engine, 'drip'), await newKey(engine, 'priced')]) {
      await askMany(engine, key, 2, MONTH_START_MS - 1);
      await askMany(engine, key, 3, MONTH_START_MS);
      await askMany(engine, key, 1, MONTH_START_MS + 3 * DAY_MS, { operation: CREATE, cost: 5 });
      await askMany(engine, key, 100, MONTH_START_MS + 3 * DAY_MS, { cost: 99 });
      await change(engine, key, { plan: 'monthly' });
      const shown = standing(await ask(engine, key, MONTH_START_MS + 9 * DAY_MS, { cost: 0 }));
      t.equal(othersOf(shown)[0]?.remaining, 12);
    }
  });

  t.test('many at once with a month beside leave exactly as much', async (t) => {
    const key = await newKey(engine, 'monthly');
    const batches = await Promise.all(Array.from({ length: 20 }, () => askMany(engine, key, 20, NOON_MS, { cost: 3 })));
    t.equal(count(batches.flat(), 'admitted'), 6, '6 × 3 of 20 a month');
    const [row] = await rowsOf(engine, dayName(NOON_MS), dayName(NOON_MS), key.id);
    t.same([row?.requests, row?.units], [6, 18]);
  });
}
