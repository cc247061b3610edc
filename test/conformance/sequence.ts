import fc from 'fast-check';
import { DAY_MS, MAX_COST, MINUTE_MS } from '../../src/gateway/admission/bucket.js';
import type { Limit, Limits, Refill } from '../../src/gateway/admission/bucket.js';
import type { BanRule, Plan, Plans } from '../../src/gateway/admission/plan.js';
import { EVERY_OPERATION, operationTerms } from '../../src/gateway/admission/windows.js';
import type { ExactPlan, Prices } from './exact.js';
import type { CustomerStatus } from '../../src/gateway/store/records/customer.js';
import type { Grant } from '../../src/gateway/store/records/grant.js';
import type { KeyRecord } from '../../src/gateway/store/records/key.js';
import { CREATE, LIST } from './names.js';

/** Random stories for engines: who asks when, and what is changed meanwhile. */
export interface Request {
  /** 0 and 1 are keys by themselves, 2 and 3 keys of one customer, 4 and 5 addresses. */
  readonly who: number;
  readonly secret: 'first' | 'second' | 'wrong';
  readonly operation: string;
  readonly scope: string | null;
  readonly cost: number;
  readonly stepMs: number;
}
export type Event =
  | { readonly kind: 'admit'; readonly requests: readonly Request[] }
  /** To a moment that the subject's last verdict spoke of, or just beside it. */
  | {
      readonly kind: 'jump';
      readonly who: number;
      readonly to: 'minute' | 'day' | 'month' | 'retry' | 'memory' | 'grant';
      readonly byMs: number;
      readonly onwardOnly?: true;
    }
  /** Of a customer's key plan and limits are changed of the customer. */
  | { readonly kind: 'change'; readonly who: number; readonly changes: Partial<KeyRecord> }
  | { readonly kind: 'customer'; readonly status: CustomerStatus }
  | { readonly kind: 'plans'; readonly edition: number }
  | { readonly kind: 'ban'; readonly who: number; readonly forMs: number }
  | { readonly kind: 'lift'; readonly who: number }
  | { readonly kind: 'fail'; readonly who: number; readonly backMs: number }
  /** The end of an admitted request: it cost `units` more than its hold, or less; its report may come twice. */
  | { readonly kind: 'settle'; readonly which: number; readonly units: number; readonly isTwice: boolean }
  /** A store that forgets by itself what nobody needs any more does so now. */
  | { readonly kind: 'sweep' };

export const KEYS = 4;
/** Keys from here on are of one customer. */
export const LONE_KEYS = 2;
export const SUBJECTS = 6;
const NAMES = ['wave', 'drip', 'own', 'own-drip', 'half', 'gone'] as const;
const HOURS_MS = 6 * 3_600_000;
const OPERATIONS = [LIST, CREATE, 'unmatched'];
/** Of a look, also those that a plan may price. */
const LOOKED_AT = [...OPERATIONS, EVERY_OPERATION];
const SCOPES = ['pets:read', 'pets:write'];

function plan(name: string, minute: Limit, day: Limit, refill: Refill, ban: Partial<BanRule>): [string, Plan] {
  return [
    name,
    {
      name,
      limits: { minute, day },
      refill,
      ban: { after: 3, withinMs: 10_000, forMs: 20_000, factor: 2, capMs: 100_000, ...ban },
    },
  ];
}
function own(name: string, refill: Refill, ban: Partial<BanRule>): [string, Plan] {
  const [, made] = plan(name, 1, 1, refill, ban);
  return [name, { ...made, limits: 'custom' }];
}

/** The same plan with more windows and prices of its own. */
function priced([name, made]: [string, Plan], month: Limit | undefined, prices?: Prices): [string, ExactPlan] {
  const limits = month === undefined || made.limits === 'custom' ? made.limits : { ...made.limits, month };
  if (prices === undefined) return [name, { ...made, limits }];
  return [name, { ...made, limits, prices, operations: operationTerms(prices) }];
}

/** The same plan for so many requests in flight. */
function narrow([name, made]: [string, ExactPlan], concurrency: number): [string, ExactPlan] {
  return [name, { ...made, concurrency }];
}

/** The same plan with a balance, which never comes back. */
function prepaid([name, made]: [string, ExactPlan]): [string, ExactPlan] {
  return [name, { ...made, isPrepaid: true }];
}

/** Small limits, so that stories meet them. The same names mean something else in another edition. */
export const EDITIONS: readonly Plans[] = [
  new Map([
    priced(plan('wave', 3, 8, 'interval', {}), 11, { [CREATE]: { cost: 2, minute: 1, day: 4 } }),
    narrow(
      priced(plan('drip', 4, 9, 'greedy', { after: 2, factor: 1.7, capMs: 77_777 }), undefined, {
        [CREATE]: { minute: 3, day: 5, month: 9 },
        unmatched: { cost: 0 },
      }),
      3,
    ),
    priced(own('own', 'interval', { after: 4, factor: 1 }), undefined, { unmatched: { cost: 3, minute: 5 } }),
    own('own-drip', 'greedy', {}),
    prepaid(narrow(priced(plan('half', 'unlimited', 6, 'interval', { withinMs: DAY_MS }), 'unlimited'), 2)),
    plan('anonymous', 3, 7, 'interval', { after: 2 }),
  ]),
  new Map([
    plan('anonymous', 2, 'unlimited', 'greedy', {}),
    plan('drip', 6, 3, 'interval', { factor: 3.3 }),
    prepaid(priced(plan('wave', 2, 20, 'greedy', { forMs: 1 }), 7, { [CREATE]: { minute: 2, day: 'unlimited' } })),
    own('own', 'greedy', {}),
    plan('half', 5, 'unlimited', 'greedy', { after: 1 }),
  ]),
  new Map([
    narrow(
      priced(plan('wave', 7, 7, 'interval', { after: 1_000 }), 100_000_000, { [LIST]: { cost: 3, month: 30 } }),
      1,
    ),
    plan('half', 1, 1, 'interval', { after: 1, forMs: 2 * DAY_MS, capMs: 3 * DAY_MS }),
    plan('anonymous', 'unlimited', 'unlimited', 'interval', {}),
  ]),
];

const limit: fc.Arbitrary<Limit> = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 1, max: 6 }) },
  fc.constantFrom<Limit>('unlimited', 100_000_000, 99_999_937),
);
const limits: fc.Arbitrary<Limits | null> = fc.option(
  fc.oneof(
    { weight: 2, arbitrary: fc.record({ minute: limit, day: limit }) },
    { weight: 1, arbitrary: fc.record({ minute: limit, day: limit, month: limit }) },
    { weight: 1, arbitrary: fc.record({ minute: limit, day: limit, concurrency: fc.integer({ min: 1, max: 3 }) }) },
  ),
  { freq: 8 },
);

/** Some that end, and more than fits into the limits of other windows. */
const credited = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 12 }) },
  fc.constantFrom(1_000_000_000_000, 5_000_000_007),
);

const scopes: fc.Arbitrary<readonly string[] | null> = fc.option(fc.subarray(SCOPES), { nil: null });

/** Mostly a moment, now and then a window, and back sometimes. */
const step: fc.Arbitrary<number> = fc.oneof(
  { weight: 60, arbitrary: fc.integer({ min: 0, max: 3_000 }) },
  {
    weight: 8,
    arbitrary: fc.constantFrom(0, 1, 10_000, 20_000, MINUTE_MS - 1, MINUTE_MS, MINUTE_MS + 1, DAY_MS / 2, DAY_MS),
  },
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 2 * MINUTE_MS }) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 3 * DAY_MS }) },
  { weight: 3, arbitrary: fc.integer({ min: -2 * MINUTE_MS, max: 0 }) },
  // A clock that was set wrong, and right again.
  { weight: 2, arbitrary: fc.integer({ min: -HOURS_MS, max: HOURS_MS }) },
  { weight: 1, arbitrary: fc.integer({ min: -3 * DAY_MS, max: 0 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 40 * DAY_MS }) },
);

/** Mostly what today's operations cost; the dearest there may be now and then. */
const cost: fc.Arbitrary<number> = fc.oneof(
  { weight: 8, arbitrary: fc.constant(1) },
  { weight: 3, arbitrary: fc.integer({ min: 2, max: 4 }) },
  { weight: 1, arbitrary: fc.constantFrom(0, MAX_COST) },
);

const asked: fc.Arbitrary<Request> = fc.record({
  who: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(0, 1) },
    { weight: 4, arbitrary: fc.constantFrom(2, 3) },
    { weight: 2, arbitrary: fc.constantFrom(4, 5) },
  ),
  secret: fc.oneof(
    { weight: 12, arbitrary: fc.constant('first' as const) },
    fc.constantFrom('second' as const, 'wrong' as const),
  ),
  operation: fc.constantFrom(...OPERATIONS),
  scope: fc.option(fc.constantFrom(...SCOPES)),
  cost,
  stepMs: step,
});
const look: fc.Arbitrary<Request> = fc
  .tuple(asked, fc.constantFrom(...LOOKED_AT))
  .map(([request, operation]) => ({ ...request, operation, cost: 0 }));
const request = fc.oneof({ weight: 9, arbitrary: asked }, { weight: 1, arbitrary: look });

export function initialRecord(noonMs: number): fc.Arbitrary<Partial<KeyRecord>> {
  const plan = fc.constantFrom(...NAMES.slice(0, 5));
  return fc.record({ plan, limits, scopes, credited, secrets: secrets(noonMs) });
}

function secrets(noonMs: number): fc.Arbitrary<KeyRecord['secrets']> {
  const endsAtMs = fc.option(fc.integer({ min: noonMs, max: noonMs + 5 * MINUTE_MS }), { freq: 2 });
  return fc.oneof(
    { weight: 6, arbitrary: fc.constant([{ hash: 'first', endsAtMs: null }]) },
    {
      weight: 2,
      arbitrary: endsAtMs.map((ends) => [
        { hash: 'first', endsAtMs: ends },
        { hash: 'second', endsAtMs: null },
      ]),
    },
    { weight: 1, arbitrary: fc.constant([]) },
  );
}

/** Some that are over, some that end in the midst of a window, and now and then too much. */
function grants(noonMs: number): fc.Arbitrary<readonly Grant[]> {
  const grant: fc.Arbitrary<Grant> = fc.record({
    id: fc.constant(7),
    window: fc.constantFrom('minute' as const, 'day' as const, 'day' as const, 'month' as const),
    units: fc.oneof({ weight: 8, arbitrary: fc.integer({ min: 1, max: 9 }) }, fc.constant(100_000_000)),
    untilMs: fc.oneof(
      { weight: 5, arbitrary: fc.integer({ min: noonMs - MINUTE_MS, max: noonMs + 5 * MINUTE_MS }) },
      { weight: 3, arbitrary: fc.integer({ min: noonMs, max: noonMs + DAY_MS }) },
      { weight: 2, arbitrary: fc.integer({ min: noonMs, max: noonMs + 40 * DAY_MS }) },
    ),
    note: fc.constant('more: "room"+'),
    actor: fc.constant('ops'),
    atMs: fc.constant(noonMs),
  });
  return fc.array(grant, { maxLength: 4 });
}

function changes(noonMs: number): fc.Arbitrary<Partial<KeyRecord>> {
  return fc.oneof(
    { weight: 5, arbitrary: fc.record({ plan: fc.constantFrom(...NAMES) }) },
    { weight: 3, arbitrary: fc.record({ limits }) },
    { weight: 3, arbitrary: fc.record({ credited }) },
    fc.record({
      status: fc.constantFrom('enabled' as const, 'enabled' as const, 'disabled' as const, 'revoked' as const),
    }),
    { weight: 5, arbitrary: fc.record({ grants: grants(noonMs) }) },
    fc.record({ scopes }),
    fc.record({ secrets: secrets(noonMs) }),
    fc.record({ expiresAtMs: fc.option(fc.integer({ min: noonMs, max: noonMs + 10 * MINUTE_MS })) }),
  );
}

const settlement = fc.record({
  kind: fc.constant('settle' as const),
  which: fc.nat(1_000),
  units: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: -4, max: 3 }) },
    { weight: 1, arbitrary: fc.constantFrom(100_000_000, MAX_COST) },
  ),
  isTwice: fc.boolean(),
});

export function story(noonMs: number): fc.Arbitrary<readonly Event[]> {
  const who = fc.integer({ min: 0, max: KEYS - 1 });
  const to = fc.constantFrom(
    'minute' as const,
    'minute' as const,
    'retry' as const,
    'retry' as const,
    'day' as const,
    'month' as const,
    'memory' as const,
    'grant' as const,
    'grant' as const,
  );
  const event: fc.Arbitrary<Event> = fc.oneof(
    {
      weight: 30,
      arbitrary: fc.record({
        kind: fc.constant('admit' as const),
        requests: fc.array(request, { minLength: 1, maxLength: 14 }),
      }),
    },
    {
      weight: 10,
      arbitrary: fc.record({
        kind: fc.constant('jump' as const),
        who: fc.integer({ min: 0, max: SUBJECTS - 1 }),
        to,
        byMs: fc.integer({ min: -1, max: 1 }),
      }),
    },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('change' as const), who, changes: changes(noonMs) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('customer' as const),
        status: fc.constantFrom('enabled' as const, 'enabled' as const, 'disabled' as const, 'closed' as const),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('plans' as const),
        edition: fc.integer({ min: 0, max: EDITIONS.length - 1 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('ban' as const),
        who,
        forMs: fc.integer({ min: 0, max: 2 * MINUTE_MS }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('lift' as const), who }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('fail' as const), who, backMs: fc.integer({ min: 0, max: DAY_MS }) }),
    },
    { weight: 12, arbitrary: settlement },
  );
  return fc.array(event, { minLength: 1, maxLength: 24 });
}

/**
 * Stories in which keys keep their plans, and what they may grows and shrinks: so greedy buckets come to owe
 * for days. A store may forget meanwhile what is over. Clocks step back by less than it waits with that.
 */
export function longStory(noonMs: number): fc.Arbitrary<readonly Event[]> {
  const few = fc.integer({ min: 1, max: 6 });
  const who = fc.constantFrom(0, 1, 2, 3);
  const subject = fc.oneof({ weight: 3, arbitrary: who }, { weight: 1, arbitrary: fc.constantFrom(KEYS, KEYS + 1) });
  const asked = fc.record({
    who: subject,
    secret: fc.constant('first' as const),
    operation: fc.constant(LIST),
    scope: fc.constant(null),
    cost: fc.constant(1 as const),
    stepMs: fc.oneof(
      { weight: 6, arbitrary: fc.integer({ min: -1_000, max: 5_000 }) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 3 * DAY_MS }) },
    ),
  });
  const event: fc.Arbitrary<Event> = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('admit' as const),
        requests: fc.array(asked, { minLength: 1, maxLength: 12 }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('change' as const),
        who,
        changes: fc.oneof(
          { weight: 3, arbitrary: fc.record({ limits: fc.record({ minute: few, day: few }) }) },
          { weight: 1, arbitrary: fc.record({ grants: grants(noonMs) }) },
        ),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('jump' as const),
        who: subject,
        to: fc.constantFrom('retry' as const, 'day' as const, 'memory' as const, 'grant' as const),
        byMs: fc.integer({ min: -1, max: 1 }),
        onwardOnly: fc.constant(true as const),
      }),
    },
    { weight: 3, arbitrary: settlement },
    { weight: 4, arbitrary: fc.constant({ kind: 'sweep' as const }) },
  );
  return fc.array(event, { minLength: 4, maxLength: 24 });
}

/** The keys of such a story: one greedy, one not, and two of a customer that is greedy. */
export function longRecords(): readonly Partial<KeyRecord>[] {
  const common = { limits: { minute: 6, day: 6 }, scopes: null, secrets: [{ hash: 'first', endsAtMs: null }] };
  return [{ ...common, plan: 'own-drip' }, { ...common, plan: 'own' }, { ...common, plan: 'own-drip' }, common];
}
