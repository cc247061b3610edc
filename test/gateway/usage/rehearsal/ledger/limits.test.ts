import t from 'tap';
import type { Limits } from '../../../../../src/gateway/admission/bucket.js';
import type { Plan, Plans } from '../../../../../src/gateway/admission/plan.js';
import { operationTerms } from '../../../../../src/gateway/admission/windows.js';
import { Largest } from '../../../../../src/gateway/usage/rehearsal/largest.js';
import { judge } from '../../../../../src/gateway/usage/rehearsal/ledger/limits.js';
import { summingFor, type Use } from '../../../../../src/gateway/usage/rehearsal/ledger/use.js';
import { noCounts } from '../../../../../src/gateway/store/records/counts.js';
import { BAN } from '../../../admission/ban.js';

function plan(limits: Plan['limits'], more: Partial<Plan> = {}): Plan {
  return { name: '', limits, refill: 'interval', ban: BAN, ...more };
}

/** Rows as `day plan operation requests units`. */
function useOf(plans: Plans, ...rows: readonly string[]): Use {
  const summing = summingFor({
    today: new Map(),
    plans,
    costs: new Map([
      ['a', 1],
      ['b', 1],
    ]),
  });
  const use = summing.begin();
  for (const row of rows) {
    const [day = '', name = '', operation = '', requests, units] = row.split(' ');
    const counts = { ...noCounts(), requests: Number(requests), units: Number(units) };
    summing.add(use, { key: 'k', plan: name, operation, day: `2026-11-${day}`, ...counts });
  }
  return use;
}

/** Units that pass by plan and day, and excesses as `plan window day units`. */
function judged(plans: Readonly<Record<string, Plan>>, rows: readonly string[], own: Limits | null = null) {
  const all = new Map(Object.entries(plans));
  const { units, excesses } = judge(useOf(all, ...rows), all, () => own);
  return {
    units: Object.fromEntries([...units].map(([name, days]) => [name, [...days.values()]])),
    excesses: excesses.map((one) => `${one.plan} ${one.window} ${one.day.slice(-2)} ${one.units}`),
  };
}

const PER_DAY = { minute: 1, day: 10 };

t.test('a day holds so much, and a month what its days let through', (t) => {
  const free = plan({ ...PER_DAY, month: 25 });
  t.strictSame(judged({ free }, ['01 free a 10 10', '02 free a 8 8', '02 free b 4 4', '03 free a 9 9']), {
    units: { free: [10, 10, 5] },
    excesses: ['free day 02 2', 'free month 03 4'],
  });
  const rows = ['01 free a 26 26', '02 free a 9 9', '03 free a 9 9'];
  t.strictSame(judged({ free: plan({ minute: 1, day: 'unlimited', month: 25 }) }, rows), {
    units: { free: [25, 0, 0] },
    excesses: ['free month 01 19'],
  });
  t.end();
});

t.test('what may have passed is never said to be above', (t) => {
  const greedy = plan(PER_DAY, { refill: 'greedy' });
  t.strictSame(judged({ greedy }, ['01 greedy a 20 20', '02 greedy a 21 21']).excesses, ['greedy day 02 1']);
  // Ten of the small plan first, then what the large one has left.
  const [small, large] = [plan(PER_DAY), plan({ minute: 1, day: 30 })];
  t.strictSame(judged({ large, small }, ['01 large a 20 20', '01 small a 12 12']), {
    units: { large: [20], small: [10] },
    excesses: ['small day 01 2'],
  });
  const custom = plan('custom');
  t.strictSame(judged({ custom }, ['01 custom a 99 99']).units, { custom: [99] }, 'of limits that nobody knows');
  t.strictSame(judged({ custom }, ['01 custom a 99 99'], PER_DAY).units, { custom: [10] });
  t.strictSame(judged({}, ['01 gone a 99 99']), { units: { gone: [99] }, excesses: [] }, 'nor of a plan that is gone');
  t.end();
});

t.test('operations cost what they do on the new plan, and have windows of their own', (t) => {
  const free = plan(PER_DAY, { operations: operationTerms({ a: { cost: 3, minute: 1, day: 6, month: 8 } }) });
  t.strictSame(judged({ free }, ['01 free a 3 3', '01 free b 1 2', '02 free a 1 1']), {
    units: { free: [8, 2] },
    excesses: ['free a-day 01 3', 'free a-month 02 1'],
  });
  t.end();
});

t.test('the largest of many are kept', (t) => {
  const largest = new Largest<number>(3, (size) => size);
  for (let n = 0; n < 100; n += 1) largest.add((n * 37) % 100);
  t.strictSame(largest.list(), [99, 98, 97]);
  t.equal(largest.left, 97);
  t.end();
});
