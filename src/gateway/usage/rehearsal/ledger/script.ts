import type { Limits, Refill } from '../../../admission/bucket.js';
import { pricesOf, type Plan, type Plans, type Price } from '../../../admission/plan.js';
import { costOf, EVERY_OPERATION } from '../../../admission/windows.js';
import type { ReportRange } from '../../grouping/range.js';

/** Plans to try on a month of the ledger, as JSON for a separate process. */
export interface LedgerScript {
  /** One whole month. */
  readonly range: Pick<ReportRange, 'from' | 'to' | 'openFrom' | 'waitingFor' | 'without'>;
  /** Prices of the plans in force; null for a plan without one. */
  readonly prices: Readonly<Record<string, Price | null>>;
  readonly plans: Readonly<Record<string, NewPlan>>;
}

/** The terms of a new plan that a ledger can be compared with. */
export interface NewPlan {
  readonly limits: Limits | 'custom';
  readonly refill: Refill;
  readonly price: Price | null;
  /** Units per request, for operations whose cost changes. */
  readonly costs: Readonly<Record<string, number>>;
  /** Day and month windows of operations. */
  readonly windows: readonly OperationWindow[];
}

interface OperationWindow {
  readonly operation: string;
  readonly name: string;
  readonly per: 'day' | 'month';
  readonly limit: number;
}

/** Compares `next` with the plans in force. @param costs by operation, from the contract */
export function scriptOf(
  range: LedgerScript['range'],
  today: Plans,
  next: Plans,
  costs: ReadonlyMap<string, number>,
): LedgerScript {
  const plans = [...next.values()].map((plan) => [plan.name, newPlanOf(plan, today.get(plan.name), costs)] as const);
  return { range, prices: pricesOf(today), plans: Object.fromEntries(plans) };
}

function newPlanOf(next: Plan, today: Plan | undefined, costs: ReadonlyMap<string, number>): NewPlan {
  const changed = [...costs].flatMap(([operation, cost]) => {
    const then = costOf(next.operations, operation, cost);
    return costOf(today?.operations, operation, cost) === then ? [] : [[operation, then] as const];
  });
  return {
    limits: next.limits,
    refill: next.refill,
    price: next.price ?? null,
    costs: Object.fromEntries(changed),
    windows: [...(next.operations ?? [])].flatMap(([operation, { windows }]) =>
      operation === EVERY_OPERATION
        ? []
        : windows.flatMap(({ name, per, limit }) =>
            limit !== 'unlimited' && (per === 'day' || per === 'month') ? [{ operation, name, per, limit }] : [],
          ),
    ),
  };
}
