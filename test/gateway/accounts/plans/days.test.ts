import t from 'tap';
import type { AuditEntry } from '../../../../src/gateway/store/records/record.js';
import { planDays } from '../../../../src/gateway/accounts/plans/days.js';
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
