import t from 'tap';
import { dayOf, daysFrom, isDay, isoOf } from '../../src/shared/utc-day.js';

t.test('a moment has the day of UTC', (t) => {
  t.equal(dayOf(0), '1970-01-01');
  t.equal(dayOf(Date.parse('2026-11-21T23:59:59.999Z')), '2026-11-21');
  t.equal(dayOf(Date.parse('2026-11-22T00:30:00+01:00')), '2026-11-21');
  t.end();
});

t.test('only days that there are, in the one form', (t) => {
  for (const day of ['2026-11-21', '2024-02-29']) t.ok(isDay(day), day);
  for (const text of [
    '2026-02-31',
    '2025-02-29',
    '2026-13-01',
    '2026-1-1',
    '2026-11-21T00:00:00Z',
    ' 2026-11-21',
    'today',
    '',
  ])
    t.notOk(isDay(text), text);
  t.end();
});

t.test('days one after the other, over months and leap days', (t) => {
  t.same([...daysFrom('2024-02-28', '2024-03-01')], ['2024-02-28', '2024-02-29', '2024-03-01']);
  t.same([...daysFrom('2026-11-21', '2026-11-21')], ['2026-11-21']);
  t.same([...daysFrom('2026-11-22', '2026-11-21')], []);
  t.end();
});

t.test('a time has its form of ISO 8601, and one after the last date there is has that one', (t) => {
  t.equal(isoOf(Date.parse('2026-11-21T23:59:59.999Z')), '2026-11-21T23:59:59.999Z');
  t.equal(isoOf(8.64e15 + 1), '+275760-09-13T00:00:00.000Z');
  t.end();
});
