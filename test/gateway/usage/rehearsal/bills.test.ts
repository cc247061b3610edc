import t from 'tap';
import { Money } from '../../../../src/gateway/usage/amounts/money.js';
import { LoggedBill, type Prices } from '../../../../src/gateway/usage/rehearsal/bills.js';
import { Rehearsal } from '../../../../src/gateway/usage/rehearsal/rehearsal.js';
import { admittedLine, KEY, NOON_MS, plansWith } from './traffic.js';

const EUR = { currency: 'EUR', monthly: 3_000, included: 310, perUnit: 2 };
const DEAR = { ...EUR, monthly: 6_001 };

/** A bill, and what it comes to on a plan. @param lines as moment, plan, units before and after */
function billOf(
  lines: readonly (readonly [at: string, plan: string, before: number, after: number])[],
  from: string,
  to: string,
) {
  const bill = new LoggedBill();
  for (const [at, plan, before, after] of lines) bill.add({ plan, atMs: Date.parse(at) }, before, after);
  return (side: 'before' | 'after', prices: Prices, plan: string) => {
    const money = new Money();
    for (const part of bill.charges(side, prices, Date.parse(from), Date.parse(to)))
      if (part.plan === plan) money.add(part);
    return money.view();
  };
}

t.test('base and included units of the days of the log, and the units beyond', (t) => {
  const lines = [
    ['2026-11-21T12:00Z', 'free', 40, 10],
    ['2026-11-22T12:00Z', 'free', 10, 5],
  ] as const;
  const owed = billOf(lines, '2026-11-21T11:00Z', '2026-11-23T00:00Z');
  // Three of thirty days: 300 of 3,000, 31 of 310 units; of 6,001 what is whole after 23 days less that of 20: 600.
  const before = { base: 300, included: 31, overage: 19, amount: 338, currency: 'EUR' };
  t.match(owed('before', new Map([['free', EUR]]), 'free'), before);
  t.match(owed('after', new Map([['free', DEAR]]), 'free'), { base: 600, included: 31, overage: 0, amount: 600 });
  t.end();
});

t.test('each month by itself; a plan until the day that ends on another', (t) => {
  const prices = new Map([
    ['free', EUR],
    ['pro', { ...EUR, monthly: 31 }],
    ['gone', null],
  ]);
  const [from, to] = ['2026-11-30T12:00Z', '2026-12-03T12:00Z'];
  const lines = [
    ['2026-11-30T12:00Z', 'free', 0, 20],
    ['2026-12-02T06:00Z', 'free', 0, 30],
    ['2026-12-02T12:00Z', 'pro', 0, 1],
  ] as const;
  const owed = billOf(lines, from, to);
  // November's last day: 100, and 11 of 310 units. One of December's 31: 96, and 10 units.
  t.match(owed('after', prices, 'free'), { base: 196, included: 21, overage: 9 + 20, amount: 196 + 2 * 29 });
  const pro = { base: 2, included: 20, overage: 0, amount: 2 };
  t.match(owed('after', prices, 'pro'), pro, 'the second and the third');
  const gone = billOf([['2026-12-02T12:00Z', 'gone', 0, 1]], from, to);
  t.strictSame(gone('after', prices, 'gone'), { currency: undefined, unknown: 'no price of gone' });
  t.end();
});

t.test('a rehearsal says what is owed as soon as a plan has a price', (t) => {
  const lines = Array.from({ length: 5 }, (_, n) => admittedLine(NOON_MS + n, [9, 8 - n], [60, 59 - n]));
  const free = plansWith({ day: 3 }).get('free')!;
  const priced = new Map([...plansWith(), ['free', { ...free, price: { ...EUR, included: 30 } }]]);
  const outcomeOf = (then?: ReturnType<typeof plansWith>) => {
    const rehearsal = new Rehearsal({ plans: priced, then });
    for (const line of lines) rehearsal.read(line);
    return rehearsal.end();
  };
  const owed = { before: null, after: { base: 100, included: 1, overage: 2, amount: 104 } };
  t.match(outcomeOf(), { payers: [{ payer: KEY.id, owed }], plans: [{ owed }], owed: { after: [{ amount: 104 }] } });
  const then = new Map([...plansWith(), ['free', { ...free, price: { ...EUR, included: 0 } }]]);
  t.match(outcomeOf(then), { owed: { before: [{ amount: 110 }], after: [{ amount: 104 }] } });
  t.notOk('owed' in JSON.parse(JSON.stringify(new Rehearsal({ plans: plansWith() }).end())));
  t.end();
});
