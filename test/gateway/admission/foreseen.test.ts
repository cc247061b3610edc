import fc from 'fast-check';
import t from 'tap';
import { DAY_MS, SHAPES, type Refill } from '../../../src/gateway/admission/bucket.js';
import { decide, freshState, type SubjectState } from '../../../src/gateway/admission/decide.js';
import { withGrants, type Extra } from '../../../src/gateway/store/records/grant.js';
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

const limit = fc.integer({ min: 1, max: 20 });
const grants: fc.Arbitrary<readonly Extra[]> = fc.array(
  fc.record({
    window: fc.constantFrom('minute' as const, 'day' as const),
    units: fc.integer({ min: 1, max: 30 }),
    untilMs: fc.oneof(
      fc.integer({ min: NOON_MS - 5_000, max: NOON_MS + 90_000 }),
      fc.integer({ min: NOON_MS, max: NOON_MS + DAY_MS }),
    ),
  }),
  { minLength: 1, maxLength: 4 },
);
const cases = fc.record({
  minute: limit,
  day: limit,
  refill: fc.constantFrom<Refill>('greedy', 'interval'),
  grants,
  minuteLevel: fc.integer({ min: 0, max: 50 * SHAPES.minute.parts }),
  dayLevel: fc.integer({ min: 0, max: 50 * SHAPES.day.parts }),
});

t.test(
  'whatever ends meanwhile: who comes back when the fields say is not refused, and has no less than they say',
  (t) => {
    fc.assert(
      fc.property(cases, ({ minute, day, refill, grants, minuteLevel, dayLevel }) => {
        const plain: Terms = { plan: 'p', limits: { minute, day }, refill, ban: NO_BAN };
        const state: SubjectState = {
          ...freshState(),
          minute: { level: minuteLevel, atMs: NOON_MS },
          day: { level: dayLevel, atMs: NOON_MS },
        };
        const at = (its: SubjectState, cost: number, nowMs: number): StandingVerdict =>
          decide(its, withGrants(plain, grants, nowMs), null, true, 'listPets', cost, nowMs);
        const verdict = at(state, 1, NOON_MS);
        const after = (waitS: number): StandingVerdict => at(structuredClone(state), 0, NOON_MS + waitS * 1_000);
        const fields = fieldsOf(verdict);
        for (const [, name, left, wait] of fields.get('RateLimit')!.matchAll(/"(\w+)";r=(\d+);t=(\d+)/g)) {
          const window = name as 'minute' | 'day';
          // What is granted beyond the limit goes with the grant: less than that is not foretold.
          const { remaining, limit: then } = windowOf(after(Number(wait)), window);
          if (
            Number(left) < Math.min(Number(windowOf(verdict, window).limit), Number(then)) &&
            remaining <= Number(left)
          )
            return false;
          if (windowOf(verdict, window).remaining < 0) return false;
        }
        const policy = [...fields.get('RateLimit-Policy')!.matchAll(/q=(\d+)/g)].map(([, q]) => Number(q));
        if (policy[0] !== windowOf(verdict, 'minute').limit || policy[1] !== windowOf(verdict, 'day').limit)
          return false;
        const retryS = retryAfterS(verdict, 0);
        return retryS === null || after(retryS).outcome === 'admitted';
      }),
      { numRuns: 5_000 },
    );
    t.end();
  },
);

t.test('who was refused just before the end of a grant is not refused when it was told to come back', (t) => {
  fc.assert(
    fc.property(cases, fc.integer({ min: 1, max: 4 }), ({ minute, day, refill, grants, minuteLevel }, cost) => {
      const plain: Terms = { plan: 'p', limits: { minute, day: 'unlimited' }, refill, ban: NO_BAN };
      const state = { ...freshState(), minute: { level: minuteLevel, atMs: NOON_MS } };
      let nowMs = NOON_MS;
      // Each refusal is remembered, so that what comes back meanwhile comes back at several speeds.
      for (let n = 0; n < 5; n += 1) {
        const verdict = decide(state, withGrants(plain, grants, nowMs), null, true, 'listPets', cost, nowMs);
        if (verdict.outcome === 'admitted') return true;
        if (verdict.outcome !== 'limited' || verdict.retryAtMs <= nowMs) return false;
        const isPossible = cost <= minute;
        if (!isPossible) return true;
        const then = structuredClone(state);
        const { retryAtMs } = verdict;
        if (decide(then, withGrants(plain, grants, retryAtMs), null, true, 'x', cost, retryAtMs).outcome !== 'admitted')
          return false;
        nowMs += Math.ceil((retryAtMs - nowMs) / 2);
      }
      return day > 0;
    }),
    { numRuns: 5_000 },
  );
  t.end();
});

t.test('terms have what is granted at the moment, and know what comes after', (t) => {
  const terms: Terms = { plan: 'p', limits: { minute: 5, day: 'unlimited' }, refill: 'interval', ban: NO_BAN };
  t.equal(withGrants(terms, undefined, NOON_MS), terms);
  t.equal(withGrants(terms, [], NOON_MS), terms);
  const grants: readonly Extra[] = [
    { window: 'minute', units: 5, untilMs: NOON_MS + 9 },
    { window: 'minute', units: 1, untilMs: NOON_MS },
    { window: 'day', units: 7, untilMs: NOON_MS + 9 },
  ];
  const held = withGrants(terms, grants, NOON_MS);
  t.same(held.limits, { minute: 10, day: 'unlimited' });
  t.same(held.expiries, {
    minute: [
      { untilMs: NOON_MS, units: 1, after: 10 },
      { untilMs: NOON_MS + 9, units: 5, after: 5 },
    ],
    day: [],
  });
  t.same(withGrants(terms, grants, NOON_MS + 9).limits, terms.limits);
  const most = withGrants(terms, [{ window: 'minute', units: 100_000_000, untilMs: NOON_MS + 1 }], NOON_MS);
  t.equal(most.limits.minute, 100_000_000, 'levels stay exact');
  t.end();
});
