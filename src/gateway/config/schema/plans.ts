import { z } from 'zod';
import { MAX_COST, MAX_LIMIT, type Limits } from '../../admission/bucket.js';
import { ANONYMOUS_PLAN, MAX_PLANS, type Plans } from '../../admission/plan.js';
import { MAX_CONCURRENCY } from '../../admission/leases.js';
import { EVERY_OPERATION, operationTerms } from '../../admission/windows.js';
import { isOperationName } from '../../../shared/names/operation-name.js';
import { price } from './price.js';
import { amount, bool, duration, mapping, whole, wholeError } from './values.js';

const LIMIT = wholeError(1, MAX_LIMIT, ', or unlimited');
const limit = z.union([z.literal('unlimited'), whole(1, MAX_LIMIT, ', or unlimited')], { error: LIMIT });
const windows = mapping({
  minute: limit.describe('Requests per minute. Any number by default, next to balance.').optional(),
  day: limit.describe('Requests per UTC day. Any number by default, next to balance.').optional(),
  month: limit.describe('Requests per UTC calendar month.').optional(),
  balance: z
    .literal('prepaid', { error: 'must be prepaid' })
    .describe('Requests also spend from a balance, which is the sum of credits (`petgate credits add`).')
    .optional(),
})
  .superRefine((said, context) => {
    if (said.balance !== undefined) return;
    for (const per of ['minute', 'day'] as const)
      if (said[per] === undefined) context.addIssue({ code: 'custom', path: [per], message: LIMIT });
  })
  .meta({ anyOf: [{ required: ['minute', 'day'] }, { required: ['balance'] }] });

const operation = mapping({
  cost: whole(0, MAX_COST)
    .describe('Units that a request takes of each window, instead of what the contract says; 0 is free.')
    .optional(),
  minute: limit.describe('Units of this operation per minute.').optional(),
  day: limit.describe('Units of this operation per UTC day.').optional(),
  month: limit.describe('Units of this operation per UTC calendar month.').optional(),
}).refine((said) => Object.keys(said).length > 0, 'must have cost, minute, day or month; leave it out otherwise');
const operations = z.record(
  z
    .string()
    .refine(
      (name) => isOperationName(name) && name !== EVERY_OPERATION,
      'must be the name of an operation of the contract, or unmatched',
    ),
  operation,
  { error: 'must be a mapping of operations' },
);

const ban = mapping({
  after: whole(1, 1_000_000).describe('This many refusals …'),
  within: duration('1s', '24h').prefault('60s').describe('… within this time start a ban …'),
  for: duration('1s', '400d').prefault('5m').describe('… this long …'),
  factor: amount(1, 100)
    .prefault(2)
    .describe('… times this for each ban that begins within 24 hours of the end of the last …'),
  cap: duration('1s', '400d').prefault('24h').describe('… but never longer than this.'),
}).refine((rule) => rule.cap >= rule.for, { path: ['cap'], error: 'must not be shorter than `for`' });

const WARN_FORM =
  'must be a list of whole numbers from 1 to 100, each larger than the one before, such as [50, 80, 100]';
const plan = mapping({
  limits: z.union([z.literal('custom'), windows], {
    error:
      'must be custom (each key has its own), or { minute: …, day: … } and month where it is counted, or ' +
      '{ balance: prepaid }',
  }),
  refill: z
    .enum(['interval', 'greedy'], { error: 'must be interval (all together) or greedy (units return one by one)' })
    .prefault('interval'),
  ban,
  concurrency: whole(1, MAX_CONCURRENCY)
    .describe('Requests in flight at a time per key, or per customer, on all gateways; any number by default.')
    .optional(),
  warn_at: z
    .array(whole(1, 100), { error: WARN_FORM })
    .refine((shares) => shares.every((share, n) => n === 0 || share > shares[n - 1]!), WARN_FORM)
    .describe(
      'Shares of day, month and balance in percent, ascending: using so much of a limit emits an event. 50, 80 and ' +
        '100 where it is left out; [] for none.',
    )
    .optional(),
  retired: bool
    .describe(
      'true: keys that have the plan keep it, and no others can get it. An edit that removes a plan in use is refused.',
    )
    .optional(),
  operations: operations.describe('What single operations cost on this plan, and limits of their own.').optional(),
  price: price.optional(),
});

/** `plans.yaml`. Its input form is `config/schema/plans.schema.json`. */
export const plansFile = z
  .record(
    z.string().regex(/^[a-z][a-z0-9_-]{0,31}$/, 'must be a name of lower-case letters, digits, - and _, such as free'),
    plan,
    { error: 'must be a mapping of plans' },
  )
  .meta({ maxProperties: MAX_PLANS })
  .refine((plans) => Object.keys(plans).length <= MAX_PLANS, {
    error:
      `must be at most ${MAX_PLANS} plans; keys and customers with limits of their own share one, with limits: ` +
      'custom',
  })
  .refine((plans) => Object.hasOwn(plans, ANONYMOUS_PLAN), {
    error: `the plan ${ANONYMOUS_PLAN} is missing; it applies to addresses that show no valid key`,
  })
  .superRefine((plans, context) => {
    if (!Object.hasOwn(plans, ANONYMOUS_PLAN)) return;
    for (const [path, message] of faultsOfAnonymous(plans[ANONYMOUS_PLAN]!))
      context.addIssue({ code: 'custom', path: [ANONYMOUS_PLAN, ...path.split('.')], message });
  });

/** Yields what the plan of addresses may not have. */
function* faultsOfAnonymous({
  limits,
  operations,
  concurrency,
  retired,
  warn_at,
  price,
}: z.output<typeof plan>): Generator<readonly [path: string, message: string]> {
  if (limits === 'custom' || limits.minute === 'unlimited' || limits.day === 'unlimited')
    yield ['limits', 'must be two numbers: an address has no limits of its own, and never none'];
  if (limits !== 'custom' && limits.month !== undefined)
    yield ['limits.month', 'an address is remembered for a day at most; leave month out'];
  if (isPrepaid(limits)) yield ['limits.balance', 'an address has no balance; remove balance'];
  if (operations !== undefined)
    yield [
      'operations',
      'who shows no valid key pays one token for a refusal, whatever was asked for; leave operations out',
    ];
  if (concurrency !== undefined)
    yield ['concurrency', 'requests without a key are not counted in flight; remove concurrency'];
  if (retired === true) yield ['retired', 'it applies to every address that shows no valid key; leave retired out'];
  if (warn_at !== undefined) yield ['warn_at', 'an address gets no events; leave warn_at out'];
  if (price !== undefined) yield ['price', 'an address has no payer; remove price'];
}

type LimitsOfPlan = 'custom' | z.output<typeof windows>;

function isPrepaid(limits: LimitsOfPlan): boolean {
  return limits !== 'custom' && limits.balance !== undefined;
}

/** Converts a plans file to the plans that admission uses. */
export function toPlans(file: z.output<typeof plansFile>): Plans {
  return new Map(
    Object.entries(file).map(
      ([
        name,
        { limits, refill, ban: rule, operations: prices = {}, concurrency, warn_at: warnAt, retired, price: cost },
      ]) => [
        name,
        {
          name,
          concurrency,
          limits: limits === 'custom' ? limits : limitsOf(limits),
          isPrepaid: isPrepaid(limits) || undefined,
          operations: operationTerms(prices),
          warnAt,
          retired,
          price: cost,
          refill,
          ban: { after: rule.after, withinMs: rule.within, forMs: rule.for, factor: rule.factor, capMs: rule.cap },
        },
      ],
    ),
  );
}

function limitsOf({ minute = 'unlimited', day = 'unlimited', month }: Exclude<LimitsOfPlan, 'custom'>): Limits {
  return { minute, day, ...(month !== undefined && { month }) };
}
