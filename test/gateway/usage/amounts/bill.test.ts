import fc from 'fast-check';
import t from 'tap';
import type { Price } from '../../../../src/gateway/admission/plan.js';
import { dayCharges, shareOf, type Month, type DayCharge } from '../../../../src/gateway/usage/amounts/bill.js';

const BASIC: Price = { monthly: 3000, included: 1000, perUnit: 2, currency: 'EUR' };
const PRO: Price = { monthly: 10_000, included: 50_000, perUnit: 1, currency: 'EUR' };
const PRICES = new Map<string, Price | null>([
  ['basic', BASIC],
  ['pro', PRO],
  ['trial', null],
]);

/** Units of a plan by day, the first of the month being 1. */
function units(...days: readonly (readonly [day: number, units: number])[]): number[] {
  const by: number[] = [];
  for (const [day, count] of days) by[day - 1] = count;
  return by;
}

function sumOf(parts: readonly DayCharge[], plan?: string): Record<'base' | 'included' | 'overage' | 'amount', bigint> {
  const sum = { base: 0n, included: 0n, overage: 0n, amount: 0n };
  for (const part of parts.filter((each) => plan === undefined || each.plan === plan))
    for (const field of ['base', 'included', 'overage', 'amount'] as const) sum[field] += part[field];
  return sum;
}

t.test('a month on one plan owes its price and the units beyond the included ones, each once', (t) => {
  const planOf = Array<string>(30).fill('basic');
  const bill = (...days: readonly (readonly [number, number])[]): unknown =>
    sumOf(dayCharges({ planOf, units: new Map([['basic', units(...days)]]) }, PRICES));
  t.same(bill(), { base: 3000n, included: 1000n, overage: 0n, amount: 3000n });
  t.same(bill([3, 600], [9, 400]), { base: 3000n, included: 1000n, overage: 0n, amount: 3000n });
  t.same(bill([3, 600], [9, 401], [30, 7]), { base: 3000n, included: 1000n, overage: 8n, amount: 3016n });
  t.same(bill([3, 1200], [9, -150]), { base: 3000n, included: 1000n, overage: 50n, amount: 3100n }, 'corrected');
  t.same(bill([3, -5]), { base: 3000n, included: 1000n, overage: 0n, amount: 3000n }, 'never less than the price');
  t.end();
});

t.test('the included units are used up in the order of days', (t) => {
  const parts = dayCharges(
    {
      planOf: Array<string>(30).fill('basic'),
      units: new Map([['basic', units([1, 900], [2, 150], [3, 10], [4, -70])]]),
    },
    PRICES,
  );
  t.same(
    parts.slice(0, 5).map(({ base, overage, amount }) => [base, overage, amount]),
    [
      [100n, 0n, 100n],
      [100n, 50n, 200n],
      [100n, 10n, 120n],
      [100n, -60n, -20n],
      [100n, 0n, 100n],
    ],
  );
  t.end();
});

t.test('a plan change on the 16th shares out both prices by days, and each unit is paid where it was admitted', (t) => {
  const planOf = [...Array<string>(15).fill('basic'), ...Array<string>(15).fill('pro')];
  const parts = dayCharges(
    {
      planOf,
      units: new Map([
        ['basic', units([2, 400], [15, 200], [16, 20])],
        ['pro', units([16, 25_000], [20, 10])],
      ]),
    },
    PRICES,
  );
  t.same(sumOf(parts, 'basic'), { base: 1500n, included: 500n, overage: 120n, amount: 1740n });
  t.same(sumOf(parts, 'pro'), { base: 5000n, included: 25_000n, overage: 10n, amount: 5010n });
  t.equal(sumOf(parts).amount, 6750n);
  t.equal(parts.find(({ plan, day }) => plan === 'basic' && day === 15)?.base, 0n, 'the day of the change is the new');
  t.end();
});

t.test('shares that are no whole numbers are rounded down as they add up, so that none is lost', (t) => {
  const planOf = [...Array<string>(10).fill('basic'), ...Array<string>(21).fill('pro')];
  const prices = new Map([
    ['basic', { ...BASIC, monthly: 1000 }],
    ['pro', { ...PRO, monthly: 4900 }],
  ]);
  const parts = dayCharges({ planOf, units: new Map() }, prices);
  t.equal(sumOf(parts, 'basic').base, 322n, '1000 × 10/31 is 322.58');
  t.equal(sumOf(parts, 'pro').base, 3320n, '4900 less 4900 × 10/31, which is 1580.64');
  t.same(
    [0, 1, 2, 3].map((day) => shareOf(10, day, 4)),
    [2n, 3n, 2n, 3n],
  );
  t.end();
});

t.test('a plan without a price owes what nobody knows, and one that was left the same day has no share', (t) => {
  const planOf = [null, ...Array<string>(29).fill('trial')];
  const parts = dayCharges({ planOf, units: new Map([['basic', units([1, 5])]]) }, PRICES);
  t.match(parts[0], { plan: 'trial', price: null, amount: 0n });
  t.same(sumOf(parts, 'basic'), { base: 0n, included: 0n, overage: 5n, amount: 10n });
  t.same(
    parts.map(({ plan, day }) => `${plan} ${day}`),
    [...Array.from({ length: 29 }, (_, n) => `trial ${n + 1}`), 'basic 0'],
    'a day with neither share nor units is left out',
  );
  t.equal(dayCharges({ planOf: [null], units: new Map() }, PRICES).length, 0, 'and nobody owes for no plan');
  t.end();
});

const PLAN = fc.constantFrom('basic', 'pro', 'odd');
const COUNT = fc.integer({ min: -1_000_000_000, max: 1_000_000_000_000 });
const PRICE: fc.Arbitrary<Price> = fc.record({
  monthly: fc.nat({ max: 1_000_000_000_000 }),
  included: fc.nat({ max: 1_000_000_000_000 }),
  perUnit: fc.nat({ max: 1_000_000_000_000 }),
  currency: fc.constant('EUR'),
});

t.test('the days of any month add up to what its plans owe as a whole', (t) => {
  const month = fc.record({
    planOf: fc.array(fc.option(PLAN), { minLength: 28, maxLength: 31 }),
    rows: fc.array(fc.tuple(PLAN, fc.nat({ max: 27 }), COUNT), { maxLength: 40 }),
    prices: fc.tuple(PRICE, PRICE, PRICE),
  });
  fc.assert(
    fc.property(month, ({ planOf, rows, prices: [basic, pro, odd] }) => {
      const counted = new Map<string, number[]>();
      for (const [plan, day, count] of rows) {
        const days = counted.get(plan) ?? [];
        days[day] = (days[day] ?? 0) + count;
        counted.set(plan, days);
      }
      const prices = new Map(Object.entries({ basic, pro, odd }));
      const asked: Month = { planOf, units: counted };
      const parts = dayCharges(asked, prices);
      for (const [plan, price] of prices) {
        const { base, included, overage, amount } = sumOf(parts, plan);
        const used = (counted.get(plan) ?? []).reduce((sum, count) => sum + BigInt(count), 0n);
        const beyond = used - included;
        if (overage !== (beyond > 0n ? beyond : 0n) || amount !== base + overage * BigInt(price.perUnit)) return false;
        if (planOf.every((one) => one === plan) && base !== BigInt(price.monthly)) return false;
      }
      return true;
    }),
    { numRuns: 500 },
  );
  t.end();
});

t.test('units on a plan that is gone make nothing unknown once the opposite was added', (t) => {
  const planOf = Array<string>(30).fill('basic');
  const plansIn = (...days: readonly (readonly [number, number])[]): unknown => {
    const all = new Map([
      ['basic', units([1, 1])],
      ['gone', units(...days)],
    ]);
    return [...new Set(dayCharges({ planOf, units: all }, PRICES).map(({ plan }) => plan))];
  };
  t.same(plansIn([3, -5]), ['basic', 'gone']);
  t.same(plansIn([3, -5], [9, 5]), ['basic']);
  const cancelled = new Map([['gone', [undefined, 5, -5]]]);
  t.same(dayCharges({ planOf: [null, null, null], units: cancelled }, PRICES), [], 'whatever the other days have');
  t.end();
});
