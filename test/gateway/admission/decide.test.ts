import t from 'tap';
import fc from 'fast-check';
import { DAY_MS, MINUTE_MS } from '../../../src/gateway/admission/bucket.js';
import { banLengthMs, decide, freshState } from '../../../src/gateway/admission/decide.js';
import { BAN_MEMORY_MS, type BanRule, type Terms } from '../../../src/gateway/admission/plan.js';
import { BAN } from './ban.js';

const KEY = { id: 'k', version: 1 };

const FOUR: BanRule = { ...BAN, after: 4 };
const TERMS: Terms = { plan: 'free', limits: { minute: 3, day: 7 }, refill: 'interval', ban: FOUR };
const NOON_MS = 20_000 * DAY_MS + DAY_MS / 2;

/** Both windows and the ban, told in plain words over the whole past of an `interval` key. */
function tell(terms: Terms, timesMs: readonly number[]): readonly string[] {
  const admitted: number[] = [];
  let [opened, spent, refusals, since, bannedUntil, level] = [-Infinity, 0, 0, 0, 0, 0];
  return timesMs.map((nowMs) => {
    if (nowMs < bannedUntil) return 'banned';
    const inMinute = nowMs - opened < MINUTE_MS ? spent : 0;
    const inDay = admitted.filter((atMs) => Math.floor(atMs / DAY_MS) === Math.floor(nowMs / DAY_MS)).length;
    if (inMinute < Number(terms.limits.minute) && inDay < Number(terms.limits.day)) {
      if (inMinute === 0) opened = nowMs;
      spent = inMinute + 1;
      admitted.push(nowMs);
      return 'admitted';
    }
    if (refusals === 0 || nowMs - since >= terms.ban.withinMs) [refusals, since] = [0, nowMs];
    refusals += 1;
    if (refusals < terms.ban.after) return 'limited';
    level = level > 0 && nowMs - bannedUntil < BAN_MEMORY_MS ? level + 1 : 1;
    bannedUntil = nowMs + Math.min(terms.ban.capMs, terms.ban.forMs * 2 ** (level - 1));
    refusals = 0;
    return `started ${level}`;
  });
}

t.test('decisions are those of the plain story of minute, day and ban', (t) => {
  const gap = fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 5_000 }) },
    fc.integer({ min: 0, max: 2 * MINUTE_MS }),
    fc.integer({ min: 0, max: DAY_MS }),
    fc.constantFrom(MINUTE_MS, 300_000, BAN_MEMORY_MS),
  );
  fc.assert(
    fc.property(fc.array(gap, { maxLength: 80 }), (gaps) => {
      let nowMs = NOON_MS;
      const timesMs = gaps.map((each) => (nowMs += each));
      const state = freshState();
      const outcomes = timesMs.map((ms) => {
        const verdict = decide(state, TERMS, KEY, true, 'listPets', 1, ms);
        return verdict.outcome === 'banned' && verdict.started ? `started ${verdict.level}` : verdict.outcome;
      });
      return JSON.stringify(outcomes) === JSON.stringify(tell(TERMS, timesMs));
    }),
    { numRuns: 1_000 },
  );
  t.end();
});

t.test('a refusal promises the first moment that succeeds', (t) => {
  const refill = fc.constantFrom('interval' as const, 'greedy' as const);
  fc.assert(
    fc.property(refill, fc.array(fc.integer({ min: 0, max: 40_000 }), { minLength: 5, maxLength: 40 }), (how, gaps) => {
      const terms = { ...TERMS, refill: how };
      const state = freshState();
      let nowMs = NOON_MS;
      for (const each of gaps) {
        const verdict = decide(state, terms, KEY, true, 'listPets', 1, (nowMs += each));
        if (verdict.outcome === 'admitted') continue;
        const look = (ms: number): string =>
          decide(structuredClone(state), terms, KEY, true, 'listPets', 0, ms).outcome;
        if (look(verdict.retryAtMs) !== 'admitted' || look(verdict.retryAtMs - 1) === 'admitted') return false;
      }
      return true;
    }),
    { numRuns: 1_000 },
  );
  t.end();
});

t.test('a refusal of both windows names the one that resets last', (t) => {
  const state = freshState();
  const terms = { ...TERMS, limits: { minute: 2, day: 2 } };
  for (let n = 0; n < 2; n += 1) decide(state, terms, KEY, true, 'listPets', 1, NOON_MS);
  t.match(decide(state, terms, KEY, true, 'listPets', 1, NOON_MS), { outcome: 'limited', violated: 'day' });
  const late = freshState();
  const almostMidnight = NOON_MS + DAY_MS / 2 - 10;
  for (let n = 0; n < 2; n += 1) decide(late, terms, KEY, true, 'listPets', 1, almostMidnight);
  t.match(decide(late, terms, KEY, true, 'listPets', 1, almostMidnight), {
    outcome: 'limited',
    violated: 'minute',
    retryAtMs: almostMidnight + MINUTE_MS,
  });
  t.end();
});

t.test('cost 0 spends nothing and strikes nobody', (t) => {
  const state = freshState();
  for (let n = 0; n < 3; n += 1) decide(state, TERMS, KEY, true, 'listPets', 1, NOON_MS);
  const before = structuredClone(state);
  for (let n = 0; n < 20; n += 1) t.equal(decide(state, TERMS, KEY, true, 'listPets', 0, NOON_MS).outcome, 'limited');
  t.same(state, before);
  t.end();
});

t.test('a ban grows by whole milliseconds, step by step, up to its cap', (t) => {
  const lengths = (rule: Partial<BanRule>): readonly number[] =>
    [1, 2, 3, 4, 5].map((level) => banLengthMs({ ...FOUR, ...rule }, level));
  t.same(lengths({}), [300_000, 600_000, 1_200_000, 2_400_000, 4_800_000]);
  t.same(lengths({ factor: 1.5, forMs: 5 }), [5, 7, 10, 15, 22]);
  t.same(lengths({ capMs: 700_000 }), [300_000, 600_000, 700_000, 700_000, 700_000]);
  t.same(lengths({ capMs: 100 }), [100, 100, 100, 100, 100], 'a cap below the base binds at once');
  t.same(lengths({ factor: 1 }), [300_000, 300_000, 300_000, 300_000, 300_000]);
  t.equal(banLengthMs(FOUR, 1_000_000_000), DAY_MS, 'a high level costs no time');
  t.end();
});
