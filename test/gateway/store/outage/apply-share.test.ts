import t from 'tap';
import { figuresOf, SHAPES, type Limits, type Refill } from '../../../../src/gateway/admission/bucket.js';
import { decide, freshState, type SubjectState } from '../../../../src/gateway/admission/decide.js';
import type { CachedKey } from '../../../../src/gateway/store/outage/cached.js';
import type { LastVerdict } from '../../../../src/gateway/store/outage/last-verdicts.js';
import { applyBan, applyShare } from '../../../../src/gateway/store/outage/apply-share.js';
import { shareOfTerms } from '../../../../src/gateway/store/outage/shares.js';
import type { Terms } from '../../../../src/gateway/admission/plan.js';
import type { StandingVerdict } from '../../../../src/gateway/admission/verdict.js';
import { NOON_MS } from '../../../conformance/cast.js';
import { NO_BAN } from '../../admission/ban.js';
import { keyRecord } from '../../admission/key-record.js';

const KEY = { id: 'k', version: 1 };

const termsOf = (limits: Limits, refill: Refill): Terms => ({ plan: 'p', limits, refill, ban: NO_BAN });
const key: CachedKey = {
  seenAtMs: NOON_MS - 1_000,
  ban: null,
  record: keyRecord('k', { plan: 'p' }),
};

const seen = (verdict: StandingVerdict, atMs: number): LastVerdict => ({
  ...{ verdict, atMs, losses: 0, dueAtMs: 0 },
  windows: new Map(verdict.windows.map(({ name }) => [name, verdict])),
});

/** Of a key that has its own buckets. */
function apply(
  state: SubjectState,
  terms: Terms,
  last: LastVerdict | undefined,
  cached: CachedKey,
  gateways: number,
  nowMs: number,
): void {
  applyShare(state, terms, last, gateways, nowMs);
  applyBan(state, last, cached, nowMs);
}

for (const refill of ['interval', 'greedy'] as const) {
  t.test(
    `${refill}: together with what Redis gave, the gateways never give more than the limit in the open windows`,
    (t) => {
      for (const [minute, day, spent, gateways] of [
        [60, 1_000, 50, 2],
        [60, 1_000, 0, 3],
        [7, 20, 7, 2],
        [10, 11, 9, 4],
        [100, 30, 29, 1],
      ] as const) {
        const whole = termsOf({ minute, day }, refill);
        const share = shareOfTerms(whole, undefined, gateways);
        const redis = freshState();
        let verdict = decide(redis, whole, KEY, true, 'listPets', 0, NOON_MS);
        for (let n = 0; n < spent; n += 1) verdict = decide(redis, whole, KEY, true, 'listPets', 1, NOON_MS);
        let given = 0;
        for (let gateway = 0; gateway < gateways; gateway += 1) {
          const local = freshState();
          apply(local, share, seen(verdict, NOON_MS), key, gateways, NOON_MS);
          for (let n = 0; n < minute; n += 1)
            if (decide(local, share, KEY, true, 'listPets', 1, NOON_MS).outcome === 'admitted') given += 1;
        }
        const most = Math.min(minute, day) - spent;
        t.ok(given <= most && given > most - 2 * gateways, `${given} of ${most}`, { minute, day, spent, gateways });
      }
      t.end();
    },
  );
}

t.test('it only takes: what is spent here stays, and a window that is over says nothing', (t) => {
  const terms = termsOf({ minute: 30, day: 500 }, 'interval');
  const state = freshState();
  for (let n = 0; n < 25; n += 1) decide(state, terms, KEY, true, 'listPets', 1, NOON_MS);
  const before = structuredClone(state);
  const whole = decide(
    freshState(),
    termsOf({ minute: 60, day: 1_000 }, 'interval'),
    KEY,
    true,
    'listPets',
    1,
    NOON_MS - 120_000,
  );
  apply(state, terms, seen(whole, NOON_MS), key, 2, NOON_MS);
  t.strictSame(state.minute, before.minute);
  t.equal(figuresOf(state.day, SHAPES.day, 500, 'interval').remaining, 475);
  t.end();
});

t.test('the newest that was seen of a ban counts', (t) => {
  const terms = termsOf({ minute: 30, day: 500 }, 'interval');
  const banned = decide(
    { ...freshState(), bannedUntilMs: NOON_MS + 5_000, banLevel: 3 },
    terms,
    KEY,
    true,
    'listPets',
    0,
    NOON_MS,
  );
  const fresh = freshState();
  apply(fresh, terms, seen(banned, NOON_MS), key, 1, NOON_MS);
  t.match(fresh, { bannedUntilMs: NOON_MS + 5_000, banLevel: 3 });
  const lifted = freshState();
  apply(lifted, terms, seen(banned, NOON_MS - 2_000), key, 1, NOON_MS);
  t.equal(lifted.bannedUntilMs, 0, 'the copy is newer, and knows of none');
  apply(lifted, terms, undefined, { ...key, ban: { untilMs: NOON_MS + 9_000, level: 1 } }, 1, NOON_MS);
  t.match(lifted, { bannedUntilMs: NOON_MS + 9_000, banLevel: 1 });
  t.end();
});
