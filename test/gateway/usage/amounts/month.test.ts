import t from 'tap';
import { chargesOf } from '../../../../src/gateway/usage/amounts/month.js';

const DAYS = ['2026-11-01', '2026-11-02'];
const PRICE = { monthly: 0, included: 0, perUnit: 1, currency: 'EUR' };
const PRICES = new Map([
  ['paid', PRICE],
  ['trial', null],
]);

/** The plans and days to report, for a payer on `plan` that was counted on some days. */
function reported(plan: string | null, counted: Readonly<Record<string, readonly string[]>>): unknown {
  const days = Object.entries(counted).map(([plan, some]) => [plan, new Map(some.map((day) => [day, 1]))] as const);
  const month = { planOf: DAYS.map(() => plan), days: DAYS, counted: new Map(days), prices: PRICES };
  return chargesOf(month, (units) => units).map(({ plan, day }) => `${plan} ${day + 1}`);
}

t.test('a payer that owes nothing and was not counted is not reported', (t) => {
  t.strictSame(reported('paid', {}), []);
  t.strictSame(reported('trial', {}), [], 'nor on a plan without a price');
  t.strictSame(reported(null, {}), [], 'nor without a plan');
  t.end();
});

t.test('a payer that was counted is reported, on a plan without a price only for the days with counts', (t) => {
  t.strictSame(reported('paid', { paid: ['2026-11-02'] }), ['paid 1', 'paid 2']);
  t.strictSame(reported('trial', { trial: ['2026-11-02'] }), ['trial 2']);
  t.end();
});

t.test('a plan that is in no plans file is always reported: nobody knows what it costs', (t) => {
  t.strictSame(reported('gone', {}), ['gone 1', 'gone 2']);
  t.end();
});
