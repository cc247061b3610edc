import type { Limit, Limits } from '../bucket.js';
import { ANONYMOUS_PLAN } from '../plan.js';
import type { Plan, Plans } from '../plan.js';

/** One gateway's part of each limit, whole tokens; what is unlimited stays so. */
export function shareOf(limits: Limits, gateways: number): Limits {
  return { minute: partOf(limits.minute, gateways), day: partOf(limits.day, gateways) };
}

/** The plans as one of `gateways` may grant them by itself. `custom` limits stand on each key: `shareOf` those. */
export function sharesOf(plans: Plans, gateways: number): Plans {
  return new Map(
    [...plans].map(([name, plan]) => [
      name,
      plan.limits === 'custom' ? plan : { ...plan, limits: partOfPlan(plan, plan.limits, gateways) },
    ]),
  );
}

/** Whoever shows no key gets one token at least: it is what a 401 is charged to. */
function partOfPlan({ name }: Plan, limits: Limits, gateways: number): Limits {
  const { minute, day } = shareOf(limits, gateways);
  return name === ANONYMOUS_PLAN ? { minute: minute === 0 ? 1 : minute, day: day === 0 ? 1 : day } : { minute, day };
}

export function partOf(limit: Limit, gateways: number): Limit {
  return limit === 'unlimited' ? limit : Math.floor(limit / gateways);
}
