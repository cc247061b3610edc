import t from 'tap';
import type { AuditEntry } from '../../../../src/gateway/store/records/record.js';
import { planDays, plansIn, termsOn } from '../../../../src/gateway/accounts/plans/days.js';
import { keyRecord } from '../../admission/key-record.js';

const DAYS = ['2026-10-01', '2026-10-02', '2026-10-03', '2026-10-04', '2026-10-05'];

function at(moment: string, action: AuditEntry['action'], changed: AuditEntry['changed'] = {}): AuditEntry {
  return { atMs: Date.parse(`2026-10-${moment}Z`), action, changed };
}

const NEW = { createdAtMs: Date.parse('2026-10-02T23:59:59Z') };

t.test('a day has the plan of its end, from the day of its making to the one before its end', (t) => {
  const record = keyRecord('k', { ...NEW, plan: 'pro', status: 'revoked' });
  const history = [
    at('02T23:59:59', 'created', { plan: 'free' }),
    at('03T00:00:00', 'changed', { plan: { from: 'free', to: 'gold' } }),
    at('03T23:59:59', 'changed', { plan: { from: 'gold', to: 'pro' }, note: { from: '', to: 'x' } }),
    at('05T00:00:00', 'revoked'),
  ];
  t.same(planDays(record, history, DAYS), [null, 'free', 'pro', 'pro', null]);
  t.end();
});

t.test('a change at midnight is of the day that begins', (t) => {
  const record = keyRecord('k', { plan: 'pro' });
  const history = [at('03T00:00:00', 'changed', { plan: { from: 'free', to: 'pro' } })];
  t.same(planDays(record, history, DAYS), ['free', 'free', 'pro', 'pro', 'pro']);
  t.end();
});

t.test('without a change it is the plan of now, also on days to come; an expiry ends it', (t) => {
  t.same(planDays(keyRecord('k', { ...NEW }), [], DAYS), [null, 'free', 'free', 'free', 'free']);
  const ends = { expiresAtMs: Date.parse('2026-10-04T12:00:00Z') };
  t.same(planDays(keyRecord('k', ends), [], DAYS), ['free', 'free', 'free', null, null]);
  t.end();
});

t.test(
  'a day keeps the end that applied then: an expired key that gets a new end owes nothing for the days between',
  (t) => {
    const history = [
      at('01T00:00:00', 'created', { plan: 'free', expires: '2026-10-02T12:00:00.000Z' }),
      at('04T09:00:00', 'changed', {
        expires: { from: '2026-10-02T12:00:00.000Z', to: '2027-01-01T00:00:00.000Z' },
      }),
    ];
    const before = keyRecord('k', { expiresAtMs: Date.parse('2026-10-02T12:00:00Z') });
    t.same(planDays(before, history.slice(0, 1), DAYS), ['free', null, null, null, null]);
    const after = keyRecord('k', { expiresAtMs: Date.parse('2027-01-01') });
    t.same(planDays(after, history, DAYS), ['free', null, null, 'free', 'free']);
    const endless = at('04T09:00:00', 'changed', { expires: { from: '2026-10-02T12:00:00.000Z', to: null } });
    t.same(planDays(keyRecord('k'), [history[0]!, endless], DAYS), ['free', null, null, 'free', 'free']);
    t.end();
  },
);

t.test('an imported key owes from its import on, whenever it was made; one that was revoked then, nothing', (t) => {
  const imported = at('03T10:00:00', 'imported', { plan: 'free', status: 'enabled', limits: null, expires: null });
  t.same(planDays(keyRecord('k', { createdAtMs: 0 }), [imported], DAYS), [null, null, 'free', 'free', 'free']);
  const revoked = at('03T10:00:00', 'imported', { plan: 'free', status: 'revoked', limits: null, expires: null });
  t.same(
    planDays(keyRecord('k', { createdAtMs: 0, status: 'revoked' }), [revoked], DAYS),
    DAYS.map(() => null),
  );
  t.end();
});

t.test('a day keeps the limits that applied then, and a plan that was left is still known', (t) => {
  const own = { minute: 10, day: 100 };
  const history = [
    at('01T00:00:00', 'created', { plan: 'custom', limits: own, expires: null }),
    at('02T10:00:00', 'changed', { limits: { from: own, to: { minute: 10, day: 200 } } }),
    at('03T10:00:00', 'changed', { plan: { from: 'custom', to: 'pro' }, limits: { from: { day: 200 }, to: null } }),
    at('04T10:00:00', 'banned', { until: 'x', level: 1, plan: 'gold' }),
  ];
  const record = keyRecord('k', { plan: 'pro' });
  const limits = termsOn(record, history, DAYS).map((terms) => terms.limits?.day ?? null);
  t.same(limits, [100, 200, null, null, null]);
  t.same([...plansIn(record, history)], ['custom', 'pro']);
  t.end();
});
