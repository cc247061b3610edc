import fc from 'fast-check';
import t from 'tap';
import { DAY_MS } from '../../../src/gateway/admission/bucket.js';
import { decide, freshState } from '../../../src/gateway/admission/decide.js';
import { rateHeaders, retryAfterS } from '../../../src/gateway/admission/headers.js';
import type { Terms } from '../../../src/gateway/admission/plan.js';
import type { StandingVerdict } from '../../../src/gateway/admission/verdict.js';
import { NO_BAN } from './ban.js';
import { windowOf } from './verdict.js';

const NOON_MS = 20_000 * DAY_MS + DAY_MS / 2;

function fieldsOf(verdict: StandingVerdict): ReadonlyMap<string, string> {
  const flat = rateHeaders(verdict, 0);
  return new Map(flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1]!] as const] : [])));
}

t.test('greedy: t is the time in which r comes back, so that a client sending r in t seconds is never refused', (t) => {
  const terms: Terms = { plan: 'drip', limits: { minute: 60, day: 1_000 }, refill: 'greedy', ban: NO_BAN };
  const state = freshState();
  for (let n = 0; n < 60; n += 1) decide(state, terms, null, true, 'listPets', 1, NOON_MS);
  const verdict = decide(state, terms, null, true, 'listPets', 1, NOON_MS);
  const fields = fieldsOf(verdict);
  t.equal(fields.get('RateLimit'), '"minute";r=0;t=1, "day";r=940;t=81216');
  t.equal(retryAfterS(verdict, 0), 1);
  t.equal(Number(fields.get('X-RateLimit-Reset')), NOON_MS / 1000 + 60);
  const open = decide(freshState(), terms, null, true, 'listPets', 1, NOON_MS);
  t.equal(fieldsOf(open).get('RateLimit'), '"minute";r=59;t=59, "day";r=999;t=86314');
  t.equal(
    fieldsOf(decide(freshState(), terms, null, true, 'listPets', 0, NOON_MS)).get('RateLimit'),
    '"minute";r=60;t=60, "day";r=1000;t=86400',
    'whole',
  );
  const paced = freshState();
  let atMs = NOON_MS;
  for (let n = 0; n < 300; n += 1) {
    const each = decide(paced, terms, null, true, 'listPets', 1, atMs);
    if (each.outcome !== 'admitted') t.fail(`request ${n} of a client that keeps to r and t was refused`);
    const [, left = '', timeS = ''] = /r=(\d+);t=(\d+)/.exec(fieldsOf(each).get('RateLimit')!)!;
    atMs += (1000 * Number(timeS)) / Math.max(1, Number(left));
  }
  t.end();
});

t.test(
  'whatever the bucket and however deep its debt: at each time a field names, what it says is true, and none ' +
    'contradicts another',
  (t) => {
    const level = (perMs: number): fc.Arbitrary<number> => fc.integer({ min: 0, max: 40 * perMs });
    const limit = fc.integer({ min: 1, max: 20 });
    const cases = fc.record({
      minute: limit,
      day: limit,
      refill: fc.constantFrom('greedy' as const, 'interval' as const),
      minuteLevel: level(60_000),
      dayLevel: level(DAY_MS),
    });
    fc.assert(
      fc.property(cases, ({ minute, day, refill, minuteLevel, dayLevel }) => {
        const terms: Terms = { plan: 'p', limits: { minute, day }, refill, ban: NO_BAN };
        const state = {
          ...freshState(),
          minute: { level: minuteLevel, atMs: NOON_MS },
          day: { level: dayLevel, atMs: NOON_MS },
        };
        const verdict = decide(state, terms, null, true, 'listPets', 1, NOON_MS);
        const after = (waitS: number): StandingVerdict =>
          decide(structuredClone(state), terms, null, true, 'listPets', 0, NOON_MS + waitS * 1000);
        const fields = fieldsOf(verdict);
        const waits = [...fields.get('RateLimit')!.matchAll(/r=(\d+);t=(\d+)/g)].map(([, left, wait]) => ({
          left: Number(left),
          wait: Number(wait),
        }));
        for (const [n, window] of (['minute', 'day'] as const).entries()) {
          const { left, wait } = waits[n]!;
          if (
            left < windowOf(verdict, window).remaining ||
            (left < { minute, day }[window] && windowOf(after(wait), window).remaining <= left)
          )
            return false;
        }
        const retryS = retryAfterS(verdict, 0);
        if (retryS === null) return true;
        const empty = waits.filter(({ left }) => left === 0).map(({ wait }) => wait);
        const resetS = Number(fields.get('X-RateLimit-Reset')) - NOON_MS / 1000;
        return (
          after(retryS).outcome === 'admitted' && retryS === Math.max(1, ...empty) && retryS <= Math.max(1, resetS)
        );
      }),
      { numRuns: 5_000 },
    );
    t.end();
  },
);
