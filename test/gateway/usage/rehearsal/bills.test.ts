import t from 'tap';
import { Bills } from '../../../../src/gateway/usage/rehearsal/bills.js';
import type { LoggedDecision } from '../../../../src/gateway/usage/rehearsal/line.js';
import { Rehearsal } from '../../../../src/gateway/usage/rehearsal/rehearsal.js';
import { ADMITTED, DAY, MINUTE } from '../../admission/verdict.js';
import { lineOf, NOON_MS, plansWith } from './traffic.js';

const EUR = { currency: 'EUR', monthly: 3_000, included: 310, perUnit: 2 };
const DEAR = { ...EUR, monthly: 6_001 };

function lineAt(at: string, plan: string, payer = 'AbCdEf123456'): LoggedDecision {
  const none = { contractCost: 1, settled: null, windows: {}, ban: null, local: false, sampled: false };
  return {
    id: 'id',
    atMs: Date.parse(at),
    outcome: 'admitted',
    keyId: payer,
    payer,
    plan,
    operation: 'getPet',
    cost: 1,
    ...none,
  };
}

t.test('base and included units of the days of the log, and the units beyond', (t) => {
  const [free, dear] = [new Map([['free', EUR]]), new Map([['free', DEAR]])];
  const bills = new Bills({ before: free, after: dear });
  bills.add(lineAt('2026-11-21T12:00Z', 'free'), 40, 10);
  bills.add(lineAt('2026-11-22T12:00Z', 'free'), 10, 5);
  const owed = bills.owedBy('AbCdEf123456', 'free', Date.parse('2026-11-21T11:00Z'), Date.parse('2026-11-23T00:00Z'));
  // Three of thirty days: 300 of 3,000, 31 of 310 units; of 6,001 what is whole after 23 days less that of 20: 600.
  t.match(owed.before, { base: 300, included: 31, overage: 19, amount: 338, currency: 'EUR' });
  t.match(owed.after, { base: 600, included: 31, overage: 0, amount: 600 });
  t.strictSame(bills.owedOn('free'), owed);
  t.match(bills.sums(), { before: [{ amount: 338 }], after: [{ amount: 600 }] });
  t.end();
});

t.test('each month by itself; a plan until the day that ends on another', (t) => {
  const prices = new Map([
    ['free', EUR],
    ['pro', { ...EUR, monthly: 31 }],
    ['gone', null],
  ]);
  const bills = new Bills({ before: null, after: prices });
  bills.add(lineAt('2026-11-30T12:00Z', 'free'), 0, 20);
  bills.add(lineAt('2026-12-02T06:00Z', 'free'), 0, 30);
  bills.add(lineAt('2026-12-02T12:00Z', 'pro'), 0, 1);
  bills.add(lineAt('2026-12-02T12:00Z', 'gone', 'other'), 0, 1);
  const owedBy = (payer: string, plan: string) =>
    bills.owedBy(payer, plan, Date.parse('2026-11-30T12:00Z'), Date.parse('2026-12-03T12:00Z'));
  const [free, pro] = [owedBy('AbCdEf123456', 'free'), owedBy('AbCdEf123456', 'pro')];
  // November's last day: 100, and 11 of 310 units. One of December's 31: 96, and 10 units.
  t.strictSame(free.before, null);
  t.match(free.after, { base: 196, included: 21, overage: 9 + 20, amount: 196 + 2 * 29 });
  t.match(pro.after, { base: 2, included: 20, overage: 0, amount: 2 }, 'the second and the third');
  t.strictSame(owedBy('other', 'gone').after, { currency: undefined, unknown: 'no price of gone' });
  t.match(bills.sums(), { before: null, after: [{ amount: 254 + 2 }] });
  t.end();
});

t.test('a rehearsal says what is owed as soon as a plan has a price', (t) => {
  const key = { kind: 'key', id: 'AbCdEf123456', secretHash: '' } as const;
  const lines = Array.from({ length: 5 }, (_, n) => {
    const windows = [
      { ...MINUTE, limit: 9, remaining: 8 - n, resetAtMs: NOON_MS + 60_000 },
      { ...DAY, limit: 60, remaining: 59 - n, resetAtMs: NOON_MS + 43_200_000 },
    ];
    const verdict = { ...ADMITTED, keyId: key.id, windows, atMs: NOON_MS + n };
    return lineOf({ subject: key, operation: 'listPets', scope: null, cost: 1 }, verdict);
  });
  const free = plansWith({ day: 3 }).get('free')!;
  const priced = new Map([...plansWith(), ['free', { ...free, price: { ...EUR, included: 30 } }]]);
  const outcomeOf = (then?: ReturnType<typeof plansWith>) => {
    const rehearsal = new Rehearsal({ plans: priced, then });
    for (const line of lines) rehearsal.read(line);
    return rehearsal.end();
  };
  const owed = { before: null, after: { base: 100, included: 1, overage: 2, amount: 104 } };
  t.match(outcomeOf(), { payers: [{ payer: key.id, owed }], plans: [{ owed }], owed: { after: [{ amount: 104 }] } });
  const then = new Map([...plansWith(), ['free', { ...free, price: { ...EUR, included: 0 } }]]);
  t.match(outcomeOf(then), { owed: { before: [{ amount: 110 }], after: [{ amount: 104 }] } });
  t.notOk('owed' in JSON.parse(JSON.stringify(new Rehearsal({ plans: plansWith() }).end())));
  t.end();
});
