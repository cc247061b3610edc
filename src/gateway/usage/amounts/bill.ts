import type { Price } from '../../admission/plan.js';

/** What a payer owes for one day of a month on one plan; amounts are in the currency's smallest unit. */
export interface DayCharge {
  /** From 0, the first day of the month. */
  readonly day: number;
  readonly plan: string;
  /** Null if the plan's price is unknown: ignore the amounts then. */
  readonly price: Price | null;
  /** The day's share of `monthly`. */
  readonly base: bigint;
  /** The day's share of the included units. */
  readonly included: bigint;
  /** Units beyond the included ones; negative if a correction of this day takes some back. */
  readonly overage: bigint;
  /** `base` plus the price of `overage`. */
  readonly amount: bigint;
}

/** A month of one payer, from the ledger and its record. */
export interface Month {
  /** Its plan at the end of each day; null if it had none. */
  readonly planOf: readonly (string | null)[];
  /** Units of each day by plan, including corrections; undefined for none. */
  readonly units: ReadonlyMap<string, readonly (number | undefined)[]>;
}

/**
 * Computes what is owed for each day. Monthly price and included units are spread over the days; a plan gets the shares
 * of the days that ended on it. Units are billed on the plan that admitted them, included ones first. Days with neither
 * share nor units are omitted.
 */
export function dayCharges(month: Month, prices: ReadonlyMap<string, Price | null>): readonly DayCharge[] {
  const plans = new Set([...month.planOf, ...month.units.keys()]);
  return [...plans].flatMap((plan) => (plan === null ? [] : chargesOn(plan, month, prices.get(plan) ?? null)));
}

function chargesOn(plan: string, { planOf, units: all }: Month, price: Price | null): readonly DayCharge[] {
  const count = planOf.length;
  const units = all.get(plan) ?? [];
  // The payer never ended a day on this plan, and corrections cancelled its units out: the price does not matter.
  if (price === null && !planOf.includes(plan) && units.reduce<number>((sum, more = 0) => sum + more, 0) === 0)
    return [];
  const shareOn = (day: number, total: number | undefined): bigint =>
    planOf[day] === plan && total !== undefined ? shareOf(total, day, count) : 0n;
  let room = planOf.reduce((sum, _, day) => sum + shareOn(day, price?.included), 0n);
  let owed = 0n;
  return planOf.flatMap((planThen, day) => {
    if (planThen !== plan && units[day] === undefined) return [];
    room -= BigInt(units[day] ?? 0);
    const beyond = room < 0n ? -room : 0n;
    const overage = price === null ? 0n : beyond - owed;
    owed = beyond;
    const base = shareOn(day, price?.monthly);
    const amount = base + overage * BigInt(price?.perUnit ?? 0);
    return [{ day, plan, price, base, included: shareOn(day, price?.included), overage, amount }];
  });
}

/**
 * Returns a day's share of `total` as a whole number. The shares of all `count` days add up to `total`: 10 over 3 days
 * is 3, 3, 4.
 */
export function shareOf(total: number, day: number, count: number): bigint {
  const upTo = (days: number): bigint => (BigInt(total) * BigInt(days)) / BigInt(count);
  return upTo(day + 1) - upTo(day);
}
