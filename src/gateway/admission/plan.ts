import type { Limit, Limits, Refill } from './bucket.js';
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

/** How long after its end a ban lengthens the next one. */
export const BAN_MEMORY_MS = 86_400_000;

/** Default of `warn_at`: shares of day and month, percent. */
export const WARN_AT: readonly number[] = [50, 80, 100];

/** The price of a plan, in the currency's smallest unit. Used in reports, not in admission. */
export interface Price {
  /** Base price per UTC month. */
  readonly monthly: number;
  /** Units per month that the base price includes. */
  readonly included: number;
  /** Price of each unit beyond those. */
  readonly perUnit: number;
  /** ISO 4217. */
  readonly currency: string;
}

/** A plan of `config/plans.yaml`. With `custom`, each key has its own limits. */
export interface Plan {
  readonly name: string;
  readonly limits: Limits | 'custom';
  readonly refill: Refill;
  readonly ban: BanRule;
  /** Costs and windows of single operations on this plan; absent if it has none. */
  readonly operations?: OperationsTerms | undefined;
  /** Requests in flight at a time per key or customer; absent for any number. */
  readonly concurrency?: number | undefined;
  /** True: requests also spend from a balance, which only credits raise. */
  readonly isPrepaid?: boolean | undefined;
  /** True: keys on it stay, but no other key can be put on it. */
  readonly retired?: boolean | undefined;
  /** Shares of day and month, percent, ascending, at which an event is emitted. Defaults to `WARN_AT`. */
  readonly warnAt?: readonly number[] | undefined;
  /** Absent if none is set: amounts are unknown then. */
  readonly price?: Price | undefined;
}

/** The plan of requests without a valid key; its subject is an address. */
export const ANONYMOUS_PLAN = 'anonymous';
export type Plans = ReadonlyMap<string, Plan>;

/** Returns the price of each plan; null if it has none. */
export function pricesOf(plans: Plans): Readonly<Record<string, Price | null>> {
  return Object.fromEntries([...plans].map(([name, { price }]) => [name, price ?? null]));
}
/** Bounds the admission script in Redis, which contains the plans. */
export const MAX_PLANS = 1_000;

/** The terms of a subject: its plan, with the limits in force. */
export interface Terms {
  readonly plan: string;
  readonly limits: Limits;
  readonly refill: Refill;
  readonly ban: BanRule;
  readonly operations?: OperationsTerms | undefined;
  readonly concurrency?: number | undefined;
  /** When its grants end, if it has any. */
  readonly expiries?: GrantExpiries;
}

/**
 * Returns the terms of a key on `planName`; undefined if the plan is gone, or needs limits that the key lacks.
 * @param credited the sum of its credits, for a prepaid plan
 */
export function termsOf(
  plans: Plans,
  planName: string,
  ownLimits: Limits | null,
  credited: Limit = 0,
): Terms | undefined {
  const plan = plans.get(planName);
  if (plan === undefined) return undefined;
  const limits = plan.limits === 'custom' ? ownLimits : plan.limits;
  if (limits === null) return undefined;
  const { name, refill, ban, operations, isPrepaid } = plan;
  const concurrency = plan.limits === 'custom' ? (limits.concurrency ?? plan.concurrency) : plan.concurrency;
  const all = isPrepaid === true ? { ...limits, balance: credited } : limits;
  return { plan: name, limits: all, refill, ban, operations, concurrency };
}
