import { z } from 'zod';
import { MAX_LIMIT } from '../../admission/bucket.js';
import { ANONYMOUS_PLAN } from '../../admission/plan.js';
import type { Plan, Plans } from '../../admission/plan.js';
import { duration, mapping, whole } from './values.js';

const limit = z.union([z.literal('unlimited'), whole(1, MAX_LIMIT, ', or unlimited')], {
  error: `must be a whole number from 1 to ${MAX_LIMIT}, or unlimited`,
});
const windows = mapping({
  minute: limit.describe('Requests per minute.'),
  day: limit.describe('Requests per UTC day.'),
});

const ban = mapping({
  after: whole(1, 1_000_000).describe('This many refusals …'),
  within: duration('1s', '24h').prefault('60s').describe('… within this time start a ban …'),
  for: duration('1s', '400d').prefault('5m').describe('… this long …'),
  factor: z
    .number({ error: 'must be a number from 1 to 100' })
    .min(1, 'must be a number from 1 to 100')
    .max(100, 'must be a number from 1 to 100')
    .prefault(2)
    .describe('… times this for each ban that begins within 24 hours of the end of the last …'),
  cap: duration('1s', '400d').prefault('24h').describe('… but never longer than this.'),
}).refine((rule) => rule.cap >= rule.for, { path: ['cap'], error: 'must not be shorter than `for`' });

const plan = mapping({
  limits: z.union([z.literal('custom'), windows], {
    error: 'must be custom (each key has its own) or { minute: …, day: … }',
  }),
  refill: z
    .enum(['interval', 'greedy'], { error: 'must be interval (all at once) or greedy (trickling back)' })
    .prefault('interval'),
  ban,
});

/** `plans.yaml`. Its input form is `config/schema/plans.schema.json`. */
export const plansFile = z
  .record(
    z.string().regex(/^[a-z][a-z0-9_-]{0,31}$/, 'must be a name of lower-case letters, digits, - and _, such as free'),
    plan,
    { error: 'must be a mapping of plans' },
  )
  .refine((plans) => Object.hasOwn(plans, ANONYMOUS_PLAN), {
    error: `the plan ${ANONYMOUS_PLAN} is missing; it applies to addresses that show no valid key`,
  })
  .refine((plans) => !Object.hasOwn(plans, ANONYMOUS_PLAN) || isBounded(plans[ANONYMOUS_PLAN]!.limits), {
    path: [ANONYMOUS_PLAN, 'limits'],
    error: 'must be two numbers: an address has no limits of its own, and never none',
  });

type LimitsOfPlan = Plan['limits'];

function isBounded(limits: LimitsOfPlan): boolean {
  return limits !== 'custom' && limits.minute !== 'unlimited' && limits.day !== 'unlimited';
}

/** The plans as admission wants them. */
export function toPlans(file: z.output<typeof plansFile>): Plans {
  return new Map(
    Object.entries(file).map(([name, { limits, refill, ban: rule }]) => [
      name,
      {
        name,
        limits,
        refill,
        ban: { after: rule.after, withinMs: rule.within, forMs: rule.for, factor: rule.factor, capMs: rule.cap },
      },
    ]),
  );
}
