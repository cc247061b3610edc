import type { Limit, Limits } from '../../admission/bucket.js';
import { ANONYMOUS_PLAN } from '../../admission/plan.js';
import type { Plan, Plans } from '../../admission/plan.js';

/** One gateway's part of each limit, whole tokens; what is unlimited stays so. */
export function shareOf(limits: Limits, gateways: number): Limits {
  const shares = { minute: partOf(limits.minute, gateways), day: partOf(limits.day, gateways) };
  return limits.month === undefined ? shares : { ...shares, month: partOf(limits.month, gateways) };
}

function operationsOf({ operations }: Plan, gateways: number): Plan['operations'] {
  if (operations === undefined) return undefined;
  return new Map(
    [...operations].map(([name, { cost, windows }]) => [
      name,
      { cost, windows: windows.map((window) => ({ ...window, limit: partOf(window.limit, gateways) })) },
    ]),
  );
}

/** The plans as one of `gateways` may grant them by itself. `custom` limits stand on each key: `shareOf` those. */
export function sharesOf(plans: Plans, gateways: number): Plans {
  return new Map(
    [...plans].map(([name, plan]) => [
      name,
      {
        ...plan,
        limits: plan.limits === 'custom' ? plan.limits : partOfPlan(plan, plan.limits, gateways),
        operations: operationsOf(plan, gateways),
      },
    ]),
  );
}

/** Whoever shows no key gets one token at least: it is what a 401 is charged to. */
function partOfPlan({ name }: Plan, limits: Limits, gateways: number): Limits {
  const shares = shareOf(limits, gateways);
  const { minute, day } = shares;
  return name === ANONYMOUS_PLAN ? { minute: minute === 0 ? 1 : minute, day: day === 0 ? 1 : day } : shares;
}

export function partOf(limit: Limit, gateways: number): Limit {
  return limit === 'unlimited' ? limit : Math.floor(limit / gateways);
}
