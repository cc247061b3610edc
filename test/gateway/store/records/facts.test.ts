import fc from 'fast-check';
import t from 'tap';
import { DAY_MS } from '../../../../src/gateway/admission/bucket.js';
import { crossingsOf } from '../../../../src/gateway/store/records/facts.js';
import type { AdmittedVerdict } from '../../../../src/gateway/admission/verdict.js';
import { ADMITTED, DAY, MINUTE } from '../../admission/verdict.js';

const NOW_MS = Date.UTC(2026, 10, 22, 12);

function verdictOf(limit: number, remaining: number, cost: number): AdmittedVerdict {
  const figures = { limit, remaining, resetAtMs: 0 };
  return {
    ...ADMITTED,
    ...{ atMs: NOW_MS, cost },
    windows: [
      { ...MINUTE, ...figures },
      { ...DAY, ...figures },
      { name: 'month', per: 'month', ...figures },
    ],
  };
}

t.test('whatever is spent in whatever steps, each share is crossed once, when so much is used', (t) => {
  const shares = fc.uniqueArray(fc.integer({ min: 1, max: 100 }), { maxLength: 5 });
  const costs = fc.array(fc.integer({ min: 1, max: 9_000 }), { maxLength: 60 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100_000 }), shares, costs, (limit, unsorted, spending) => {
      const warnAt = unsorted.sort((a, b) => a - b);
      const crossed: number[] = [];
      let used = 0;
      for (const cost of spending) {
        if (used + cost > limit) continue;
        used += cost;
        const found = crossingsOf(verdictOf(limit, limit - used, cost), warnAt);
        for (const { window, threshold, used: its } of found) {
          if (its !== used) return false;
          if (window === 'day') crossed.push(threshold);
        }
        if (found.filter(({ window }) => window === 'day').length * 2 !== found.length) return false;
      }
      const expected = warnAt.filter((share) => used * 100 >= share * limit);
      return JSON.stringify(crossed) === JSON.stringify(expected);
    }),
    { numRuns: 2_000 },
  );
  t.pass('2,000 ways to spend');
  t.end();
});

t.test('a crossing names the day on which its window began', (t) => {
  t.same(crossingsOf(verdictOf(10, 5, 1), [50, 80]), [
    { window: 'day', startDay: Date.UTC(2026, 10, 22) / DAY_MS, threshold: 50, limit: 10, used: 5 },
    { window: 'month', startDay: Date.UTC(2026, 10, 1) / DAY_MS, threshold: 50, limit: 10, used: 5 },
  ]);
  t.same(crossingsOf(verdictOf(10, 0, 10), []), []);
  const full = verdictOf(10, 0, 10);
  const windows = full.windows.map((window) => ({ ...window, limit: 'unlimited' as const }));
  t.same(crossingsOf({ ...full, windows }, [50]), []);
  t.end();
});
