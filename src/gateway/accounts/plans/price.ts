import type { Limit, Limits } from '../../admission/bucket.js';
import type { Plan } from '../../admission/plan.js';
import { costOf } from '../../admission/windows.js';

/** The cost of each operation by the contract. */
export type Costs = ReadonlyMap<string, number>;

/** Returns the operation that costs most on a plan; empty, with cost 0, if none costs anything. */
export function dearestOn(plan: Plan, costs: Costs) {
  let dearest = { operation: '', cost: 0 };
  for (const [operation, ofContract] of costs) {
    const cost = costOf(plan.operations, operation, ofContract);
    if (cost > dearest.cost) dearest = { operation, cost };
  }
  return dearest;
}

/** Returns the windows of `limits` that are too small for one request of this cost. */
export function tooSmallFor(cost: number, { minute, day, month = 'unlimited' }: Limits): readonly string[] {
  return Object.entries({ minute, day, month }).flatMap(([per, limit]: [string, Limit]) =>
    limit === 'unlimited' || limit >= cost ? [] : [per],
  );
}
