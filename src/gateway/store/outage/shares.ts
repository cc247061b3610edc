import type { Limit, Limits } from '../../admission/bucket.js';
import { sharedExpiries } from '../../admission/grant-expiries.js';
import { ANONYMOUS_PLAN, type Plan, type Plans, type Terms } from '../../admission/plan.js';

/** The plans as one of `gateways` may grant them alone; `custom` limits are on each key. */
export function sharesOf(plans: Plans, gateways: number): Plans {
  return new Map([...plans].map(([name, plan]) => [name, shareOfPlan(plan, gateways)]));
}

function shareOfPlan(plan: Plan, gateways: number): Plan {
  const { limits, operations } = plan;
  return {
    ...plan,
    limits: limits === 'custom' ? limits : shareOf(limits, gateways, plan.name === ANONYMOUS_PLAN ? 1 : 0),
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

/** The terms as one of `gateways` may grant them, of a plan with its share of operations. */
export function shareOfTerms(terms: Terms, share: Plan | undefined, gateways: number): Terms {
  const { expiries } = terms;
  const shared = { ...terms, limits: shareOf(terms.limits, gateways), operations: share?.operations };
  return expiries === undefined
    ? shared
    : { ...shared, expiries: sharedExpiries(expiries, (limit) => shareOfLimit(limit, gateways)) };
}

/**
 * One gateway's part of each limit.
 * @param least whoever shows no key gets one token at least: it is what a 401 is charged to
 */
function shareOf({ minute, day, month }: Limits, gateways: number, least = 0): Limits {
  const shares = { minute: shareOfLimit(minute, gateways, least), day: shareOfLimit(day, gateways, least) };
  return month === undefined ? shares : { ...shares, month: shareOfLimit(month, gateways, least) };
}

function shareOfLimit(limit: Limit, gateways: number, least = 0): Limit {
  return limit === 'unlimited' ? limit : Math.max(least, partOf(limit, gateways));
}

/** Whole tokens. */
export function partOf(tokens: number, gateways: number): number {
  return Math.floor(tokens / gateways);
}
