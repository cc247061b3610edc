import type { Limit, Limits } from '../../../admission/bucket.js';
import type { NewPlan } from './script.js';
import type { DayUse, Use } from './use.js';

/** Units that a window of the new plans does not hold. */
export interface Excess {
  readonly plan: string;
  /** `day`, `month`, or that of an operation: `createPet-day`. */
  readonly window: string;
  /** The UTC day; of a month the first on which it is spent. */
  readonly day: string;
  readonly limit: number;
  units: number;
}

/** Units that pass at most, by plan and day; and what does not. */
export interface Judgement {
  readonly units: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly excesses: readonly Excess[];
}

/**
 * What the days and months of the new plans hold of a payer's units. The most they may: a plan that trickles back
 * admits up to twice its limit in one day, and who changed plans within a day is taken to have used the smaller first.
 * @param ownOn limits of the payer on a day, for plans whose limits are `custom`; null where nobody knows them
 */
export function judge(use: Use, plans: ReadonlyMap<string, NewPlan>, ownOn: (day: string) => Limits | null): Judgement {
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

/** What one payer has spent while days go by. */
class PayerWindows {
  readonly excesses: Excess[] = [];
  readonly #month = new Map<string, number>();
  #today = new Map<string, number>();
  #day = '';

  begin(day: string): void {
    this.#day = day;
    this.#today = new Map();
  }

  /** Gives the units that pass. */
  take(plan: string, { asked, operations }: DayUse, { refill, windows }: NewPlan, limits: Limits | null): number {
    const times = refill === 'greedy' ? 2 : 1;
    const passing = new Map(operations);
    let units = asked;
    for (const { operation, name, per, limit } of windows) {
      const wanted = passing.get(operation) ?? 0;
      const passes = this.#hold(plan, name, per, limit, per === 'day' ? times : 1, wanted);
      passing.set(operation, passes);
      units -= wanted - passes;
    }
    if (limits === null) return units;
    units = this.#hold(plan, 'day', 'day', limits.day, times, units);
    return this.#hold(plan, 'month', 'month', limits.month ?? 'unlimited', 1, units);
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
