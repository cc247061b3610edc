import t from 'tap';
import fc from 'fast-check';
import { lastDayOf, monthEndMs, monthStartMs } from '../../src/shared/utc-month.js';

t.test('months begin and end as the calendar of the language says, from 1970 on', (t) => {
  const moment = fc.oneof(
    fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) }),
    fc
      .tuple(fc.integer({ min: 1971, max: 2500 }), fc.integer({ min: 0, max: 11 }), fc.integer({ min: -2, max: 2 }))
      .map(([year, month, byMs]) => Date.UTC(year, month) + byMs),
  );
  const asTheLanguage = fc.property(moment, (atMs) => {
    const date = new Date(atMs);
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
    return monthStartMs(atMs) === Date.UTC(year, month) && monthEndMs(atMs) === Date.UTC(year, month + 1);
  });
  t.doesNotThrow(() => fc.assert(asTheLanguage, { numRuns: 20_000 }));
  t.end();
});

t.test('the last day of a month is that of the calendar, in leap years too', (t) => {
  for (const day of ['2026-01-31', '2026-02-28', '2028-02-29', '2026-04-30', '2026-12-31'])
    t.equal(lastDayOf(day.slice(0, 7)), day);
  t.end();
});

t.test('a time after the last date does not spoil the months that are asked for next', (t) => {
  t.same(monthEndMs(8.64e15 + 1), Number.NaN);
  t.equal(monthEndMs(Date.parse('2026-11-21')), Date.UTC(2026, 11));
  t.end();
});
