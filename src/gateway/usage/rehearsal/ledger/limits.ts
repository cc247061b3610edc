import type { Limit, Limits } from '../../../admission/bucket.js';
import type { Plan, Plans } from '../../../admission/plan.js';
import { windowsIn, type DayUse, type Use } from './use.js';

export interface Excess {
  readonly plan: string;
  /** `day`, `month`, or an operation's window: `createPet-day`. */
  readonly window: string;
  /** UTC day; for a month, the first day that exceeds it. */
  readonly day: string;
  readonly limit: number;
  units: number;
}

/** The most units that could pass, by plan and day, and the excess. */
interface Judgement {
  readonly units: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly excesses: readonly Excess[];
}

/**
 * Computes how many of a payer's units the day and month windows of the new plans could admit at most: greedy refill
 * admits up to twice the limit in a day, and after a plan change within a day the smaller plan counts first.
 * @param ownOn the payer's limits on a day, for plans with `custom` limits; null if unknown
 */
export function judge(use: Use, plans: Plans, ownOn: (day: string) => Limits | null): Judgement {
  const payer = new PayerWindows();
  const units = new Map([...use.keys()].map((plan) => [plan, new Map<string, number>()]));
  const days = [...new Set([...use.values()].flatMap((of) => [...of.keys()]))].sort();
  for (const day of days) {
    const parts = [...use].flatMap(([plan, of]) => {
      const [its, terms] = [of.get(day), plans.get(plan)];
      if (its === undefined) return [];
      return [{ plan, its, terms, limits: terms?.limits === 'custom' ? ownOn(day) : (terms?.limits ?? null) }];
    });
    parts.sort((one, other) => ceilingOf(one.limits) - ceilingOf(other.limits));
    payer.begin(day);
    for (const { plan, its, terms, limits } of parts)
      units.get(plan)!.set(day, terms === undefined ? its.units : payer.take(plan, its, terms, limits));
  }
  return { units, excesses: payer.excesses };
}

function ceilingOf(limits: Limits | null): number {
  return limits === null || limits.day === 'unlimited' ? Infinity : limits.day;
}

class PayerWindows {
  readonly excesses: Excess[] = [];
  readonly #month = new Map<string, number>();
  #today = new Map<string, number>();
  #day = '';

  begin(day: string): void {
    this.#day = day;
    this.#today = new Map();
  }

  /** Returns the units that pass. */
  take(name: string, { asked, operations }: DayUse, plan: Plan, limits: Limits | null): number {
    const times = plan.refill === 'greedy' ? 2 : 1;
    const passing = new Map(operations);
    let units = asked;
    for (const { operation, window, per, limit } of windowsIn(plan)) {
      const wanted = passing.get(operation) ?? 0;
      const passes = this.#hold(name, window, per, limit, per === 'day' ? times : 1, wanted);
      passing.set(operation, passes);
      units -= wanted - passes;
    }
    if (limits === null) return units;
    units = this.#hold(name, 'day', 'day', limits.day, times, units);
    return this.#hold(name, 'month', 'month', limits.month ?? 'unlimited', 1, units);
  }

  #hold(plan: string, name: string, per: 'day' | 'month', limit: Limit, times: number, wanted: number): number {
    const spent = per === 'day' ? this.#today : this.#month;
    const before = spent.get(name) ?? 0;
    const passes = limit === 'unlimited' ? wanted : Math.min(wanted, Math.max(0, limit * times - before));
    spent.set(name, before + passes);
    if (passes < wanted && limit !== 'unlimited') this.#note(plan, name, per, limit, wanted - passes);
    return passes;
  }

  #note(plan: string, window: string, per: 'day' | 'month', limit: number, units: number): void {
    const known = this.excesses.find((one) => per === 'month' && one.window === window && one.plan === plan);
    if (known === undefined) this.excesses.push({ plan, window, day: this.#day, limit, units });
    else known.units += units;
  }
}
