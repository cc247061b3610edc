import t from 'tap';
import { merged, split } from '../../../src/gateway/store/state.js';
import { decide, freshState } from '../../../src/gateway/admission/decide.js';
import { NOON_MS } from '../../conformance/cast.js';
import { NO_BAN } from '../admission/ban.js';

const TERMS = {
  plan: 'p',
  limits: { minute: 2, day: 9, month: 5 },
  refill: 'interval',
  ban: { ...NO_BAN, after: 2 },
} as const;

t.test('buckets go to the customer, strikes and ban to the key', (t) => {
  const [first, second, customer] = [freshState(), freshState(), freshState()];
  const ask = (key: ReturnType<typeof freshState>): string => {
    const state = merged(key, customer);
    const { outcome } = decide(state, TERMS, { id: 'k', version: 1 }, true, 'listPets', 1, NOON_MS);
    split(state, key, customer);
    return outcome;
  };
  t.same([first, second, second, second, first].map(ask), ['admitted', 'admitted', 'limited', 'banned', 'limited']);
  t.match(customer, { minute: { level: 2 * 60_000 }, day: { level: 2 * 86_400_000 }, strikes: 0, bannedUntilMs: 0 });
  t.equal(customer.month.level, 2);
  t.match(first, { minute: { level: 0 }, strikes: 1, bannedUntilMs: 0, operationWindows: null });
  t.match(second, { minute: { level: 0 }, banLevel: 1, operationWindows: null });
  t.ok(second.bannedUntilMs > NOON_MS);
  t.end();
});
