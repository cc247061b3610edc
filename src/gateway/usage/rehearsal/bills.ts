import type { Price } from '../../admission/plan.js';
import { monthEndMs, monthStartMs } from '../../../shared/utc-month.js';
import { DAY_MS } from '../../../shared/utc-day.js';
import { dayCharges, type DayCharge } from '../amounts/bill.js';
import type { LoggedDecision } from './line.js';

/** Prices by plan; null for a plan without one. */
export type Prices = ReadonlyMap<string, Price | null>;

/** Units of a month on one plan: admitted, and admitted by the new plans. */
interface Units {
  readonly plan: string;
  readonly monthMs: number;
  before: number;
  after: number;
}

/** What a payer in a log owes for: plans and units. Payers without requests are not in it. */
export class LoggedBill {
  /** The plan from each day on; the last request of a day decides. */
  readonly #plans: { readonly dayMs: number; plan: string }[] = [];
  readonly #units: Units[] = [];

  /** Adds a line; lines arrive in order. @param before units admitted @param after units that the new plans admit */
  add({ plan, atMs }: Pick<LoggedDecision, 'plan' | 'atMs'>, before: number, after: number): void {
    const dayMs = atMs - (atMs % DAY_MS);
    const last = this.#plans.at(-1);
    if (last?.dayMs === dayMs) last.plan = plan;
    else if (last?.plan !== plan) this.#plans.push({ dayMs, plan });
    const monthMs = monthStartMs(atMs);
    let units = this.#units.findLast((one) => one.plan === plan && one.monthMs === monthMs);
    if (units === undefined) this.#units.push((units = { plan, monthMs, before: 0, after: 0 }));
    units.before += before;
    units.after += after;
  }

  /** Returns what is owed for the days that the log covers, inclusive, each with its share of the month. */
  charges(side: 'before' | 'after', prices: Prices, firstMs: number, lastMs: number): readonly DayCharge[] {
    const charges: DayCharge[] = [];
    for (let monthMs = monthStartMs(firstMs); monthMs <= lastMs; monthMs = monthEndMs(monthMs)) {
      const planOf = this.#planDays(monthMs, firstMs, lastMs);
      // All units on the last day: only their sum matters, as included units count for the whole month.
      const units = this.#units
        .filter((one) => one.monthMs === monthMs)
        .map((one) => [one.plan, planOf.map((_, day) => (day < planOf.length - 1 ? undefined : one[side]))] as const);
      charges.push(...dayCharges({ planOf, units: new Map(units) }, prices));
    }
    return charges;
  }

  /** Returns the plan of each day of a month; null on days that the log does not cover. */
  #planDays(monthMs: number, firstMs: number, lastMs: number): readonly (string | null)[] {
    return Array.from({ length: (monthEndMs(monthMs) - monthMs) / DAY_MS }, (_, n) => {
      const atMs = monthMs + n * DAY_MS;
      if (atMs + DAY_MS <= firstMs || atMs > lastMs) return null;
      return (this.#plans.findLast(({ dayMs }) => dayMs <= atMs) ?? this.#plans[0]!).plan;
    });
  }
}
