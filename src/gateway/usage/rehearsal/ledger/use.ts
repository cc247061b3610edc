import type { Plan, Plans } from '../../../admission/plan.js';
import { costOf } from '../../../admission/windows.js';
import { netUnits, type UsageRow } from '../../../store/records/counts.js';
import type { Summing } from '../../amounts/accounts.js';

/** A payer's usage on one plan and day. */
export interface DayUse {
  requests: number;
  units: number;
  /** Units of the same requests at the new plan's costs. */
  asked: number;
  /** `asked` by operation, for operations with a window on the new plan; null if there are none. */
  operations: Map<string, number> | null;
  /** Units from corrections; may be negative. */
  corrected: number;
  /** Requests that a limit or a ban refused. */
  refused: number;
}

/** By plan and day. */
export type Use = Map<string, Map<string, DayUse>>;

/**
 * Sums up ledger rows at the costs and by the windows of the new plans.
 * @param today the plans in force @param costs by operation, from the contract
 */
export function summingFor({
  today,
  plans,
  costs,
}: Readonly<Record<'today' | 'plans', Plans> & { costs: ReadonlyMap<string, number> }>): Summing<Use> {
  const watched = new Map(
    [...plans].map(([name, plan]) => [name, new Set(windowsIn(plan).map((one) => one.operation))]),
  );
  /** Returns the new cost of a request; undefined if it does not change. */
  const newCost = (name: string, operation: string): number | undefined => {
    const [plan, cost] = [plans.get(name), costs.get(operation)];
    if (plan === undefined || cost === undefined) return undefined;
    const next = costOf(plan.operations, operation, cost);
    return costOf(today.get(name)?.operations, operation, cost) === next ? undefined : next;
  };
  return {
    begin: () => new Map(),
    add: (use, row) => {
      const day = dayOf(use, row);
      const { plan, operation, requests } = row;
      const units = netUnits(row);
      const cost = newCost(plan, operation);
      const asked = cost === undefined ? units : requests * cost;
      day.requests += requests;
      day.units += units;
      day.asked += asked;
      day.refused += row.limited + row.banned;
      day.corrected += row.corrected?.units ?? 0;
      if (watched.get(plan)?.has(operation) !== true) return;
      day.operations ??= new Map();
      day.operations.set(operation, (day.operations.get(operation) ?? 0) + asked);
    },
  };
}

/** Returns the day and month windows of single operations. Nothing is ever counted on `*`, which has all of them. */
export function windowsIn({ operations }: Plan) {
  return [...(operations ?? [])].flatMap(([operation, { windows }]) =>
    windows.flatMap(({ name: window, per, limit }) =>
      limit !== 'unlimited' && (per === 'day' || per === 'month') ? [{ operation, window, per, limit }] : [],
    ),
  );
}

function dayOf(use: Use, { plan, day: name }: UsageRow): DayUse {
  let days = use.get(plan);
  if (days === undefined) use.set(plan, (days = new Map<string, DayUse>()));
  let day = days.get(name);
  if (day === undefined)
    days.set(name, (day = { requests: 0, units: 0, asked: 0, operations: null, corrected: 0, refused: 0 }));
  return day;
}
