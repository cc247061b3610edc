import t from 'tap';
import fc from 'fast-check';
import {
  DAY_MS,
  figuresOf,
  holds,
  MAX_LIMIT,
  tokensAtMs,
  settle,
  SHAPES,
  spend,
  UNLIMITED_FIGURE,
} from '../../../src/gateway/admission/bucket.js';
import type { BucketShape, BucketState, Limit, Refill } from '../../../src/gateway/admission/bucket.js';

/** Windows of a few ms, so that an oracle can look at every single one of them. */
const TINY: readonly BucketShape[] = [
  { per: 'minute', perMs: 7, parts: 7, ceiling: 100_000_000 * 7 },
  { per: 'day', perMs: 7, parts: 7, ceiling: 100_000_000 * 7 },
];
const REFILLS: readonly Refill[] = ['interval', 'greedy'];

interface Case {
  readonly shape: BucketShape;
  readonly refill: Refill;
  readonly limit: number;
  readonly gaps: readonly number[];
}
const cases: fc.Arbitrary<Case> = fc.record({
  shape: fc.constantFrom(...TINY),
  refill: fc.constantFrom(...REFILLS),
  limit: fc.integer({ min: 1, max: 9 }),
  gaps: fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 60 }),
});

function take(state: BucketState, { shape, limit, refill }: Omit<Case, 'gaps'>, nowMs: number): boolean {
  settle(state, shape, limit, refill, nowMs);
  if (!holds(state, shape, limit, 1)) return false;
  spend(state, shape, 1);
  return true;
}

/** The same bucket, told in plain words: looks at all that was admitted before, one ms after another. */
function mayAdmit(
  { shape, limit, refill }: Omit<Case, 'gaps'>,
  admittedAtMs: readonly number[],
  nowMs: number,
): boolean {
  if (refill === 'greedy') {
    // One token is perMs drops, and `limit` drops leak away each ms.
    let drops = 0;
    for (let ms = 1; ms <= nowMs; ms += 1) {
      drops = Math.max(0, drops + admittedAtMs.filter((atMs) => atMs === ms - 1).length * shape.perMs - limit);
    }
    return drops + (admittedAtMs.filter((atMs) => atMs === nowMs).length + 1) * shape.perMs <= limit * shape.perMs;
  }
  if (shape.per === 'day')
    return (
      admittedAtMs.filter((atMs) => Math.floor(atMs / shape.perMs) === Math.floor(nowMs / shape.perMs)).length < limit
    );
  let opened = -Infinity;
  let spent = 0;
  for (const atMs of [...admittedAtMs, nowMs]) {
    if (atMs - opened >= shape.perMs) [opened, spent] = [atMs, 0];
    spent += 1;
  }
  return spent <= limit;
}

t.test('a bucket admits exactly what counting every token by hand admits', (t) => {
  fc.assert(
    fc.property(cases, (each) => {
      const state: BucketState = { level: 0, atMs: 0 };
      const admitted: number[] = [];
      let nowMs = 100 * each.shape.perMs;
      for (const gap of each.gaps) {
        nowMs += gap;
        const expected = mayAdmit(each, admitted, nowMs);
        if (take(state, each, nowMs) !== expected) return false;
        if (expected) admitted.push(nowMs);
      }
      return true;
    }),
    { numRuns: 2_000 },
  );
  t.end();
});

t.test('Retry-After and Reset are the very first moments at which they are true', (t) => {
  fc.assert(
    fc.property(cases, (each) => {
      const { shape, limit, refill, gaps } = each;
      const state: BucketState = { level: 0, atMs: 0 };
      let nowMs = 100 * shape.perMs;
      for (const gap of gaps) take(state, each, (nowMs += gap));
      settle(state, shape, limit, refill, nowMs);
      const at = (ms: number): BucketState => {
        const later = { ...state };
        settle(later, shape, limit, refill, ms);
        return later;
      };
      const first = (true_: (ms: number) => boolean): number => {
        let ms = nowMs;
        while (!true_(ms)) ms += 1;
        return ms;
      };
      const { remaining, resetAtMs, nextAtMs = resetAtMs } = figuresOf(state, shape, limit, refill);
      const full = first(
        (ms) =>
          figuresOf(at(ms), shape, limit, refill).remaining === limit && (refill === 'interval' || at(ms).level === 0),
      );
      if (state.level > 0 && resetAtMs !== full) return false;
      if (
        state.level > 0 &&
        nextAtMs !==
          first(
            (ms) =>
              figuresOf(at(ms), shape, limit, refill).remaining > remaining || (remaining === limit && ms === full),
          )
      )
        return false;
      if (
        !holds(state, shape, limit, 1) &&
        tokensAtMs(state, shape, limit, refill, 1) !== first((ms) => holds(at(ms), shape, limit, 1))
      )
        return false;
      const spendable = { ...state };
      let tokens = 0;
      for (; holds(spendable, shape, limit, 1); tokens += 1) spend(spendable, shape, 1);
      return remaining === tokens;
    }),
    { numRuns: 2_000 },
  );
  t.end();
});

t.test('remaining is never negative when a plan shrinks below what was spent', (t) => {
  const state: BucketState = { level: 0, atMs: 1_000_000 };
  for (let n = 0; n < 50; n += 1) spend(state, SHAPES.minute, 1);
  t.equal(figuresOf(state, SHAPES.minute, 10, 'interval').remaining, 0);
  t.equal(figuresOf(state, SHAPES.minute, 80, 'interval').remaining, 30);
  t.equal(
    tokensAtMs(state, SHAPES.minute, 10, 'greedy', 1),
    1_000_000 + (41 * 60_000) / 10,
    'greedy: what was spent above the limit has to trickle away first',
  );
  t.end();
});

t.test('an unlimited bucket counts and never ends', (t) => {
  const state: BucketState = { level: 0, atMs: 0 };
  for (const limit of ['unlimited'] as const satisfies readonly Limit[]) {
    settle(state, SHAPES.day, limit, 'greedy', DAY_MS + 5);
    spend(state, SHAPES.day, 1);
    t.ok(holds(state, SHAPES.day, limit, 1));
    t.same(figuresOf(state, SHAPES.day, limit, 'greedy'), {
      name: 'day',
      per: 'day',
      limit,
      remaining: UNLIMITED_FIGURE,
      resetAtMs: 2 * DAY_MS,
    });
  }
  t.end();
});

t.test('the largest bucket is still counted to the last token', (t) => {
  for (const shape of [SHAPES.minute, SHAPES.day]) {
    t.ok(Number.isSafeInteger(MAX_LIMIT * shape.perMs + shape.perMs));
    const state: BucketState = { level: (MAX_LIMIT - 1) * shape.perMs, atMs: 1e12 };
    t.ok(holds(state, shape, MAX_LIMIT, 1));
    spend(state, shape, 1);
    t.notOk(holds(state, shape, MAX_LIMIT, 1));
    t.equal(figuresOf(state, shape, MAX_LIMIT, 'interval').remaining, 0);
    spend(state, shape, 1);
    t.equal(state.level, MAX_LIMIT * shape.perMs, 'and never above');
  }
  fc.assert(
    fc.property(fc.integer({ min: 1, max: MAX_LIMIT }), fc.integer({ min: 1, max: MAX_LIMIT }), (limit, spent) => {
      const state = { level: spent * DAY_MS, atMs: 1_800_000_000_000 };
      if (holds(state, SHAPES.day, limit, 1)) return true;
      const missing = BigInt(state.level) + BigInt(DAY_MS) - BigInt(limit) * BigInt(DAY_MS);
      const exact = (missing + BigInt(limit) - 1n) / BigInt(limit);
      return BigInt(tokensAtMs(state, SHAPES.day, limit, 'greedy', 1) - state.atMs) === exact;
    }),
    { numRuns: 5_000 },
  );
  t.end();
});

t.test('after a clock stepped back, what was spent is as if spent now', (t) => {
  const nowMs = 1e12 - 3 * DAY_MS;
  for (const refill of REFILLS) {
    for (const shape of [SHAPES.minute, SHAPES.day]) {
      const state: BucketState = { level: 3 * shape.perMs, atMs: 1e12 };
      settle(state, shape, 5, refill, nowMs);
      t.same(state, {
        level: 3 * shape.perMs,
        atMs: refill === 'interval' && shape.per === 'day' ? nowMs - (nowMs % DAY_MS) : nowMs,
      });
    }
  }
  t.end();
});
