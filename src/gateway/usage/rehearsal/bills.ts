import type { Price } from '../../admission/plan.js';
import { monthEndMs, monthStartMs } from '../../../shared/utc-month.js';
import { DAY_MS } from '../../../shared/utc-day.js';
import { dayCharges } from '../amounts/bill.js';
import { Money } from '../amounts/money.js';
import type { MoneyView } from '../grouping/money-view.js';
import type { LoggedDecision } from './line.js';

/** Prices by plan; null for a plan without one. */
export type Prices = ReadonlyMap<string, Price | null>;

/** What is owed under the original prices (null if these are unknown) and under the new ones. */
export interface Owed<Sum = MoneyView> {
  readonly before: Sum | null;
  readonly after: Sum;
}

/** Whether the new plans change the amount, or why it is unknown; false if the original prices are unknown. */
export function isOwedOtherwise(owed: Owed | undefined): boolean {
  const [before, after] = [owed?.before, owed?.after];
  if (!before || !after) return false;
  return (['amount', 'currency', 'unknown'] as const).some((name) => before[name] !== after[name]);
}

/** Units of a month on one plan: admitted, and admitted by the new plans. */
interface Units {
  readonly plan: string;
  readonly monthMs: number;
  before: number;
  after: number;
}

interface Payer {
  /** The plan from each day on; the last request of a day decides. */
  readonly plans: { readonly dayMs: number; plan: string }[];
  readonly units: Units[];
}

/**
 * Computes what the payers in a log owe. Base and included units count for the days that the log covers, each with its
 * share of the month. Payers without requests are not included.
 */
export class Bills {
  readonly #prices: Owed<Prices>;
  readonly #payers = new Map<string, Payer>();
  readonly #plans = new Map<string, Owed<Money>>();
  readonly #all: Owed<Money>;

  constructor(prices: Owed<Prices>) {
    this.#prices = prices;
    this.#all = this.#noMoney();
  }

  /** Adds a line; lines arrive in order. @param before units admitted @param after units that the new plans admit */
  add({ payer: id, plan, atMs }: LoggedDecision, before: number, after: number): void {
    let payer = this.#payers.get(id);
    if (payer === undefined) this.#payers.set(id, (payer = { plans: [], units: [] }));
    const dayMs = atMs - (atMs % DAY_MS);
    const last = payer.plans.at(-1);
    if (last?.dayMs === dayMs) last.plan = plan;
    else if (last?.plan !== plan) payer.plans.push({ dayMs, plan });
    const monthMs = monthStartMs(atMs);
    let units = payer.units.findLast((one) => one.plan === plan && one.monthMs === monthMs);
    if (units === undefined) payer.units.push((units = { plan, monthMs, before: 0, after: 0 }));
    units.before += before;
    units.after += after;
  }

  /** Returns what a payer owes on a plan for these days, inclusive, and adds it to the sums: call once for each. */
  owedBy(id: string, plan: string, firstMs: number, lastMs: number): Owed {
    const payer = this.#payers.get(id)!;
    const owed = this.#noMoney();
    for (let monthMs = monthStartMs(firstMs); monthMs <= lastMs; monthMs = monthEndMs(monthMs)) {
      const planOf = planDays(payer, plan, monthMs, { firstMs, lastMs });
      const units = payer.units.find((one) => one.plan === plan && one.monthMs === monthMs);
      this.#bill(owed, plan, planOf, units);
    }
    const sums = this.#plans.get(plan) ?? this.#noMoney();
    this.#plans.set(plan, sums);
    for (const sum of [sums, this.#all]) {
      sum.after.take(owed.after);
      if (owed.before !== null) sum.before?.take(owed.before);
    }
    return viewOf(owed);
  }

  /** Returns what all billed payers owe on this plan; undefined if there are none. */
  owedOn(plan: string): Owed | undefined {
    const owed = this.#plans.get(plan);
    return owed && viewOf(owed);
  }

  /** Returns the known sums of all billed payers by currency. */
  sums(): Owed<readonly MoneyView[]> {
    return { before: this.#all.before?.byCurrency() ?? null, after: this.#all.after.byCurrency() };
  }

  /** Puts all units of a month on its last day: only their sum matters, as included units count for the whole month. */
  #bill(owed: Owed<Money>, plan: string, planOf: readonly (string | null)[], units: Units | undefined): void {
    for (const side of ['before', 'after'] as const) {
      const [money, prices] = [owed[side], this.#prices[side]];
      if (money === null || prices === null) continue;
      const onLast = units && planOf.map((_, day) => (day === planOf.length - 1 ? units[side] : undefined));
      const month = { planOf, units: new Map(onLast === undefined ? [] : [[plan, onLast]]) };
      for (const part of dayCharges(month, prices)) money.add(part);
    }
  }

  #noMoney(): Owed<Money> {
    return { before: this.#prices.before === null ? null : new Money(), after: new Money() };
  }
}

/** Returns `plan` for each day of a month on which the payer had it and that the log covers, else null. */
function planDays(
  { plans }: Payer,
  plan: string,
  monthMs: number,
  { firstMs, lastMs }: { readonly firstMs: number; readonly lastMs: number },
): readonly (string | null)[] {
  const count = (monthEndMs(monthMs) - monthMs) / DAY_MS;
  return Array.from({ length: count }, (_, n) => {
    const atMs = monthMs + n * DAY_MS;
    if (atMs + DAY_MS <= firstMs || atMs > lastMs) return null;
    const step = plans.findLast(({ dayMs }) => dayMs <= atMs) ?? plans[0]!;
    return step.plan === plan ? plan : null;
  });
}

function viewOf({ before, after }: Owed<Money>): Owed {
  return { before: before && before.view(), after: after.view() };
}
