import t from 'tap';
import fc from 'fast-check';
import { StoreClock } from '../../../../../src/gateway/store/redis/link/clock.js';

t.test('without an answer nothing is known', (t) => {
  t.equal(new StoreClock().at(0), undefined);
  t.end();
});

t.test('it is never ahead of the truth, and no further behind than the quickest answer', (t) => {
  const answers = fc.array(
    fc.record({ gapMs: fc.integer({ min: 0, max: 2_000 }), tookMs: fc.integer({ min: 0, max: 100 }) }),
    { minLength: 1, maxLength: 30 },
  );
  fc.assert(
    fc.property(fc.integer({ min: -1e9, max: 1e12 }), answers, (trueAheadMs, list) => {
      const clock = new StoreClock();
      let ourMs = 0;
      const recent: { atMs: number; tookMs: number }[] = [];
      for (const { gapMs, tookMs } of list) {
        ourMs += gapMs;
        clock.note(ourMs + trueAheadMs - tookMs, ourMs);
        recent.push({ atMs: ourMs, tookMs });
        const behindMs = ourMs + trueAheadMs - (clock.at(ourMs) ?? Infinity);
        const quickest = Math.min(...recent.filter((each) => ourMs - each.atMs < 10_000).map((each) => each.tookMs));
        if (behindMs < 0 || behindMs > quickest) return false;
      }
      return true;
    }),
    { numRuns: 1_000 },
  );
  t.end();
});

t.test('drift, and a clock that was set back, are followed within twenty seconds', (t) => {
  const clock = new StoreClock();
  for (let ourMs = 0; ourMs <= 60_000; ourMs += 1_000) clock.note(ourMs + 5_000, ourMs);
  for (let ourMs = 61_000; ourMs <= 81_000; ourMs += 1_000) clock.note(ourMs - 7_000, ourMs);
  t.equal(clock.at(81_000), 74_000);
  for (let ourMs = 82_000; ourMs <= 3_600_000; ourMs += 1_000) clock.note(ourMs * 0.999, ourMs);
  const behindMs = 3_600_000 * 0.999 - (clock.at(3_600_000) ?? 0);
  t.ok(behindMs <= 0 && behindMs > -25, 'one in a thousand slower: 20 ms at most');
  clock.note(10_000_000, 9_000_000);
  t.equal(clock.at(9_000_000), 10_000_000, 'what is long ago does not count');
  t.end();
});
