import type { Limits, Refill } from './bucket.js';
import type { GrantExpiries } from './grant-expiries.js';
import type { OperationsTerms } from './windows.js';

/** When refusals turn into a ban, and how long it lasts. Durations in ms. */
export interface BanRule {
  /** This many refusals … */
  readonly after: number;
  /** … within this time, counted from the first of them, start a ban … */
  readonly withinMs: number;
  /** … this long … */
  readonly forMs: number;
  /** … times this for each ban that began less than `BAN_MEMORY_MS` after the one before ended … */
  readonly factor: number;
  /** … but never longer than this. */
  readonly capMs: number;
}

/** How long a ban that is over still makes the next one longer. */
export const BAN_MEMORY_MS = 86_400_000;

/** Which shares of day and month are warned of where a plan doesn't say, percent. */
export const WARN_AT: readonly number[] = [50, 80, 100];

/** What a plan costs, in whole numbers of the currency's smallest coin. Reports know it, and admission does not. */
export interface Price {
  /** Owed for a UTC month. */
  readonly monthly: number;
  /** Units of a month that it pays. */
  readonly included: number;
  /** Owed for each unit beyond. */
  readonly perUnit: number;
  /** ISO 4217. */
  readonly currency: string;
}

/** A plan of `config/plans.yaml`. `custom` limits stand on each key itself. */
export interface Plan {
  readonly name: string;
  readonly limits: Limits | 'custom';
  readonly refill: Refill;
  readonly ban: BanRule;
  /** What some operations cost on this plan, and their own windows; left out where it speaks of none. */
  readonly operations?: OperationsTerms | undefined;
  /** True: who has it keeps it, and nobody else gets it. */
  readonly retired?: boolean | undefined;
  /**
   * Shares of day and month, percent, ascending: whoever uses so much of them is notified of in an event. `WARN_AT`
   * where it is left out.
   */
  readonly warnAt?: readonly number[] | undefined;
  /** Left out where nobody said one: what is owed on it is not known then. */
  readonly price?: Price | undefined;
}

/** The plan of whoever shows no valid key; its subject is an address. */
export const ANONYMOUS_PLAN = 'anonymous';
export type Plans = ReadonlyMap<string, Plan>;

/** Of each plan; null where it has none. */
export function pricesOf(plans: Plans): Readonly<Record<string, Price | null>> {
  return Object.fromEntries([...plans].map(([name, { price }]) => [name, price ?? null]));
}
/** They are part of the text of the admission script in Redis. */
export const MAX_PLANS = 1_000;

/** What binds one subject: its plan with the limits that hold for it. */
export interface Terms {
  readonly plan: string;
  readonly limits: Limits;
  readonly refill: Refill;
  readonly ban: BanRule;
  readonly operations?: OperationsTerms | undefined;
  /** Of terms with grants: when they end. */
  readonly expiries?: GrantExpiries;
}

/** The terms of a key on `planName`; undefined when the plan is gone or asks for limits the key lacks. */
export function termsOf(plans: Plans, planName: string, ownLimits: Limits | null): Terms | undefined {
  const plan = plans.get(planName);
  if (plan === undefined) return undefined;
  const limits = plan.limits === 'custom' ? ownLimits : plan.limits;
  if (limits === null) return undefined;
  return { plan: plan.name, limits, refill: plan.refill, ban: plan.ban, operations: plan.operations };
}
