import fc from 'fast-check';
import t from 'tap';
import { UNLIMITED_FIGURE, type WindowFigures } from '../../../src/gateway/admission/bucket.js';
import { closedHeaders, rateHeaders, retryAfterS } from '../../../src/gateway/admission/headers.js';
import type { AdmittedVerdict, Standing, StandingVerdict } from '../../../src/gateway/admission/verdict.js';
import { DAY, MINUTE, STANDING, windowOf } from './verdict.js';

const AT_MS = Date.UTC(2026, 10, 21, 12);
const MONTH_MS = 31 * 86_400_000;

const fieldsOf = (headers: readonly string[]): ReadonlyMap<string, string> =>
  new Map(headers.flatMap((name, index) => (index % 2 === 0 ? [[name, headers[index + 1]!] as const] : [])));

const window = (its: typeof MINUTE | typeof DAY, perMs: number): fc.Arbitrary<WindowFigures> =>
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc
        .tuple(
          fc.integer({ min: 1, max: 100_000_000 }),
          fc.double({ min: 0, max: 1, noNaN: true }),
          fc.integer({ min: 0, max: perMs }),
        )
        .map(([limit, share, resetMs]) => ({
          ...its,
          limit,
          remaining: Math.floor(limit * share),
          resetAtMs: AT_MS + resetMs,
        })),
    },
    {
      weight: 1,
      arbitrary: fc.integer({ min: 0, max: perMs }).map((resetMs) => ({
        ...its,
        limit: 'unlimited' as const,
        remaining: UNLIMITED_FIGURE,
        resetAtMs: AT_MS + resetMs,
      })),
    },
  );
const standing: fc.Arbitrary<Standing> = fc
  .record({
    minute: window(MINUTE, 60_000),
    day: window(DAY, 86_400_000),
    atMs: fc.integer({ min: AT_MS, max: AT_MS + 999 }),
  })
  .map(({ minute, day, atMs }) => ({ ...STANDING, windows: [minute, day], atMs }));
const verdict: fc.Arbitrary<StandingVerdict> = fc.oneof(
  standing.map((at) => ({ ...at, outcome: 'admitted' as const, inScope: true })),
  fc
    .tuple(standing, fc.constantFrom('minute' as const, 'day' as const), fc.integer({ min: 1, max: 86_400_000 }))
    .map(([at, violated, waitMs]) => ({
      ...at,
      windows: at.windows.map((its) =>
        its.name === violated ? { ...its, limit: 60, remaining: 0, resetAtMs: at.atMs + waitMs } : its,
      ),
      outcome: 'limited' as const,
      violated,
      retryAtMs: at.atMs + waitMs,
      exceeds: false,
    })),
  fc.tuple(standing, fc.integer({ min: 1, max: MONTH_MS })).map(([at, banMs]) => ({
    ...at,
    outcome: 'banned' as const,
    bannedUntilMs: at.atMs + banMs,
    retryAtMs: at.atMs + banMs,
    level: 1,
    started: false,
  })),
);
const sinceMs = fc.oneof(fc.constant(0), fc.double({ min: 0, max: 200_000, noNaN: true }));

/** The triple, and whether RateLimit and RateLimit-Policy say the same. */
function figuresHold(judged: StandingVerdict, since: number): boolean {
  const fields = fieldsOf(rateHeaders(judged, since));
  const nowMs = judged.atMs + since;
  const [limit = NaN, remaining = NaN, reset = NaN] = ['Limit', 'Remaining', 'Reset'].map((name) =>
    Number(fields.get(`X-RateLimit-${name}`)),
  );
  const whole = [limit, remaining, reset].every((figure) => Number.isSafeInteger(figure) && figure >= 0);
  const resetHolds = reset * 1000 >= nowMs && reset * 1000 < Math.max(nowMs, AT_MS + MONTH_MS + 2000) + 1000;
  return whole && remaining <= limit && resetHolds && listsHold(fields, judged, limit, remaining);
}

function listsHold(
  fields: ReadonlyMap<string, string>,
  judged: StandingVerdict,
  limit: number,
  remaining: number,
): boolean {
  const items = [...(fields.get('RateLimit') ?? '').matchAll(/"(minute|day)";r=(\d+);t=(\d+)/g)];
  const policies = [...(fields.get('RateLimit-Policy') ?? '').matchAll(/"(minute|day)";q=(\d+);w=(60|86400)/g)];
  const listed = (['minute', 'day'] as const).filter((name) => windowOf(judged, name).limit !== 'unlimited');
  const sameWindows = [items, policies].every((list) => list.map(([, name]) => name).join() === listed.join());
  const least = Math.min(...items.map(([, , left]) => Number(left)), limit === UNLIMITED_FIGURE ? remaining : Infinity);
  return (
    sameWindows && (listed.length === 0 || least === remaining) && (judged.outcome === 'admitted' || remaining === 0)
  );
}

/** Retry-After: a whole second or more, not before a retry can succeed, and not a second too long. */
function waitHolds(judged: StandingVerdict, since: number): boolean {
  const retry = retryAfterS(judged, since);
  if (judged.outcome === 'admitted' || retry === null) return judged.outcome === 'admitted' && retry === null;
  const nowMs = judged.atMs + since;
  return (
    retry >= 1 &&
    nowMs + retry * 1000 >= judged.retryAtMs &&
    (retry === 1 || nowMs + (retry - 1) * 1000 < judged.retryAtMs)
  );
}

t.test(
  'whatever the verdict and however slow the answer: the figures agree, no Reset is past, no Retry-After too early',
  (t) => {
    fc.assert(
      fc.property(verdict, sinceMs, (judged, since) => figuresHold(judged, since) && waitHolds(judged, since)),
      { numRuns: 5000 },
    );
    t.end();
  },
);

t.test('the triple speaks for the window that refuses first', (t) => {
  const minute = { ...MINUTE, limit: 60, remaining: 5, resetAtMs: AT_MS + 1500 };
  const day = { ...DAY, limit: 1000, remaining: 7, resetAtMs: AT_MS + 7000 };
  const triple = (judged: StandingVerdict): string => {
    const fields = fieldsOf(rateHeaders(judged, 0));
    return ['Limit', 'Remaining', 'Reset'].map((name) => fields.get(`X-RateLimit-${name}`)).join(' ');
  };
  const at = { ...STANDING, windows: [minute, day], atMs: AT_MS };
  const admitted = (...windows: readonly WindowFigures[]): AdmittedVerdict => ({ ...at, windows, outcome: 'admitted' });
  const second = AT_MS / 1000;
  t.equal(triple(admitted(minute, day)), `60 5 ${second + 2}`, 'fewest left; Reset rounded up');
  t.equal(triple(admitted(minute, { ...day, remaining: 4 })), `1000 4 ${second + 7}`);
  t.equal(triple(admitted(minute, { ...day, remaining: 5 })), `1000 5 ${second + 7}`, 'of equals the later one');
  t.equal(
    triple({
      ...at,
      windows: [
        { ...minute, remaining: 0 },
        { ...day, remaining: 0 },
      ],
      outcome: 'limited',
      violated: 'day',
      retryAtMs: day.resetAtMs,
      exceeds: false,
    }),
    `1000 0 ${second + 7}`,
    'of the violated the last to reset',
  );
  t.equal(
    triple({ ...at, outcome: 'banned', bannedUntilMs: AT_MS + 9000, retryAtMs: AT_MS + 9000, level: 1, started: true }),
    `60 0 ${second + 9}`,
    'a ban ends when it ends',
  );
  const boundless = { limit: 'unlimited', remaining: UNLIMITED_FIGURE, resetAtMs: AT_MS + 1 } as const;
  const free = rateHeaders(admitted({ ...MINUTE, ...boundless }, { ...DAY, ...boundless }), 0);
  t.same(fieldsOf(free).get('X-RateLimit-Limit'), '9007199254740991');
  t.notOk(fieldsOf(free).has('RateLimit'), 'what has no limit stands in no list');
  t.end();
});

t.test('of more windows the one with fewest requests of this cost left speaks, and all are listed', (t) => {
  const monthEndMs = Date.UTC(2026, 11, 1);
  const minute = { ...MINUTE, limit: 60, remaining: 13, resetAtMs: AT_MS + 1500 };
  const day = { ...DAY, limit: 1000, remaining: 8, resetAtMs: AT_MS + 7000 };
  const month = { name: 'month', per: 'month', limit: 5000, remaining: 20, resetAtMs: monthEndMs } as const;
  const name = 'createPet-minute';
  const own = { name, per: 'minute', limit: 10, remaining: 9, resetAtMs: AT_MS } as const;
  const at = { ...STANDING, windows: [minute, day, month, own], cost: 7, atMs: AT_MS };
  const admitted = { ...at, outcome: 'admitted', inScope: true } as const;
  const speaks = (judged: StandingVerdict): string | undefined =>
    fieldsOf(rateHeaders(judged, 0)).get('X-RateLimit-Limit');
  t.equal(speaks(admitted), '1000', 'one request of each but the month; the day resets last');
  t.equal(speaks({ ...admitted, cost: 1 }), '1000');
  t.equal(speaks({ ...admitted, cost: 1, windows: [minute, day, month, { ...own, remaining: 7 }] }), '10');
  const fewer = [minute, day, { ...month, remaining: 13 }, own];
  t.equal(speaks({ ...admitted, windows: fewer }), '5000', 'of equals the last to reset');
  t.equal(
    speaks({ ...at, outcome: 'limited', violated: 'createPet-minute', retryAtMs: AT_MS + 1, exceeds: false }),
    '10',
  );
  const fields = fieldsOf(rateHeaders(admitted, 0));
  t.equal(
    fields.get('RateLimit'),
    `"minute";r=13;t=2, "day";r=8;t=7, "month";r=20;t=${(monthEndMs - AT_MS) / 1000}, "createPet-minute";r=9;t=0`,
  );
  t.equal(
    fields.get('RateLimit-Policy'),
    '"minute";q=60;w=60, "day";q=1000;w=86400, "month";q=5000;w=2592000, "createPet-minute";q=10;w=60',
    'November has 30 days',
  );
  const bannedUntilMs = AT_MS + 9000;
  const banned = {
    ...at,
    outcome: 'banned',
    bannedUntilMs,
    retryAtMs: bannedUntilMs,
    level: 1,
    started: true,
  } as const;
  const closed = fieldsOf(rateHeaders(banned, 0));
  t.match(closed.get('RateLimit'), /"month";r=0;t=9, "createPet-minute";r=0;t=9$/);
  t.match(closed.get('RateLimit-Policy'), /"month";q=5000;w=2592000/);
  const equal = [minute, { ...day, remaining: minute.remaining }];
  t.equal(speaks({ ...banned, windows: equal }), '60', 'of windows with the same left, the first');
  t.end();
});

t.test('without a verdict the door is closed, and says for how long', (t) => {
  const fields = fieldsOf(closedHeaders(AT_MS + 1, 2));
  t.same([...fields.values()], ['0', '0', String(AT_MS / 1000 + 3), '"closed";r=0;t=2', '"closed";q=0;w=2']);
  t.end();
});
