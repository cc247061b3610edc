import t from 'tap';
import { termsOf, type Plan, type Plans } from '../../../src/gateway/admission/plan.js';
import { BAN } from './ban.js';

const free: Plan = { name: 'free', limits: { minute: 60, day: 1_000 }, refill: 'interval', ban: BAN };
const plans: Plans = new Map([
  ['free', free],
  ['enterprise', { ...free, name: 'enterprise', limits: 'custom', refill: 'greedy' }],
]);
const own = { minute: 5_000, day: 'unlimited' } as const;

t.test('the limits are the plan’s, or the key’s where the plan says custom', (t) => {
  t.same(termsOf(plans, 'free', own), { plan: 'free', limits: free.limits, refill: 'interval', ban: BAN });
  t.same(termsOf(plans, 'enterprise', own), { plan: 'enterprise', limits: own, refill: 'greedy', ban: BAN });
  t.end();
});

t.test('a plan that is gone, or custom without limits, binds nobody', (t) => {
  t.equal(termsOf(plans, 'gone', own), undefined);
  t.equal(termsOf(plans, 'enterprise', null), undefined);
  t.end();
});
