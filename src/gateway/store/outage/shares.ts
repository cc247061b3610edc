import type { Limit, Limits } from '../../admission/bucket.js';
import { sharedExpiries } from '../../admission/grant-expiries.js';
import { ANONYMOUS_PLAN, type Plan, type Plans, type Terms } from '../../admission/plan.js';

/** Returns the plans with one gateway's share of each limit; `custom` limits are on each key. */
export function sharesOf(plans: Plans, gateways: number): Plans {
  return new Map([...plans].map(([name, plan]) => [name, shareOfPlan(plan, gateways)]));
}

function shareOfPlan(plan: Plan, gateways: number): Plan {
  const { limits, operations, concurrency } = plan;
  return {
    ...plan,
    limits: limits === 'custom' ? limits : shareOf(limits, gateways, plan.name === ANONYMOUS_PLAN ? 1 : 0),
    concurrency: concurrency && partOf(concurrency, gateways),
    operations:
      operations &&
      new Map(
        [...operations].map(([name, { cost, windows }]) => [
          name,
          { cost, windows: windows.map((window) => ({ ...window, limit: shareOfLimit(window.limit, gateways) })) },
        ]),
      ),
  };
}

/** Returns the terms with one gateway's share of limits and grants. @param share the plan by `sharesOf` */
export function shareOfTerms(terms: Terms, share: Plan | undefined, gateways: number): Terms {
  const { expiries } = terms;
  const concurrency = terms.concurrency && partOf(terms.concurrency, gateways);
  const shared = { ...terms, limits: shareOf(terms.limits, gateways), operations: share?.operations, concurrency };
  return expiries === undefined
    ? shared
    : { ...shared, expiries: sharedExpiries(expiries, (limit) => shareOfLimit(limit, gateways)) };
}

/** @param least 1 for an address without a key: each 401 is charged one token */
function shareOf({ minute, day, month, balance }: Limits, gateways: number, least = 0): Limits {
  return {
    ...{ minute: shareOfLimit(minute, gateways, least), day: shareOfLimit(day, gateways, least) },
    ...(month !== undefined && { month: shareOfLimit(month, gateways, least) }),
    ...(balance !== undefined && { balance: shareOfLimit(balance, gateways) }),
  };
}

function shareOfLimit(limit: Limit, gateways: number, least = 0): Limit {
  return limit === 'unlimited' ? limit : Math.max(least, partOf(limit, gateways));
}

/** Returns one gateway's share in whole tokens, rounded down. */
export function partOf(tokens: number, gateways: number): number {
  return Math.floor(tokens / gateways);
}
