import { netUnits, type UsageRow } from '../../../store/records/counts.js';
import type { Summing } from '../../amounts/accounts.js';
import type { NewPlan } from './script.js';

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

/** Sums up ledger rows at the costs and by the windows of the new plans. */
export function summingFor(plans: ReadonlyMap<string, NewPlan>): Summing<Use> {
  const costs = new Map([...plans].map(([name, plan]) => [name, new Map(Object.entries(plan.costs))]));
  const watched = new Map([...plans].map(([name, plan]) => [name, new Set(plan.windows.map((one) => one.operation))]));
  return {
    begin: () => new Map(),
    add: (use, row) => {
      const day = dayOf(use, row);
      const { plan, operation, requests } = row;
      const units = netUnits(row);
      const cost = costs.get(plan)?.get(operation);
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

function dayOf(use: Use, { plan, day: name }: UsageRow): DayUse {
  let days = use.get(plan);
  if (days === undefined) use.set(plan, (days = new Map<string, DayUse>()));
  let day = days.get(name);
  if (day === undefined)
    days.set(name, (day = { requests: 0, units: 0, asked: 0, operations: null, corrected: 0, refused: 0 }));
  return day;
}
