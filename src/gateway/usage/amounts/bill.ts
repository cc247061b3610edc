import type { Price } from '../../admission/plan.js';

/** What a payer owes for one day of a month on one plan; `coins` are of the smallest coin of the currency. */
export interface Part {
  /** From 0, the first day of the month. */
  readonly day: number;
  readonly plan: string;
  /** Null: the plan has none that is known, and so nothing else is. */
  readonly price: Price | null;
  /** Share of `monthly`, in coins. */
  readonly base: bigint;
  /** Share of the units that it pays. */
  readonly included: bigint;
  /** Units beyond those; below 0 where a correction of this day takes some back. */
  readonly overage: bigint;
  /** In coins. */
  readonly amount: bigint;
}

/** A month of one payer, by what the ledger and its record say. */
export interface Month {
  /** The plan that it had at the end of each day; null for none. */
  readonly planOf: readonly (string | null)[];
  /** By plan the units of each day, corrections included; a hole for none. */
  readonly units: ReadonlyMap<string, readonly (number | undefined)[]>;
}

/**
 * What is owed for each day: all of a month's `monthly`, and its included units, are shared out to its days, those of a
 * plan being the shares of the days that ended on it. Units are paid on the plan on which they were admitted, the
 * included ones first. Days without a share and units are left out.
 */
export function partsOf(month: Month, prices: ReadonlyMap<string, Price | null>): readonly Part[] {
  const plans = new Set([...month.planOf, ...month.units.keys()]);
  return [...plans].flatMap((plan) => (plan === null ? [] : partsOn(plan, month, prices.get(plan) ?? null)));
}

function partsOn(plan: string, { planOf, units: all }: Month, price: Price | null): readonly Part[] {
  const count = planOf.length;
  const units = all.get(plan) ?? [];
  // A plan that the payer never had at a day's end, and of which nothing is left: a correction undid another.
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
 * The share of one of `count` days in `total`: what the days up to it have together, rounded down, less what those
 * before have. So it is a whole number, and all of a month are `total`.
 */
export function shareOf(total: number, day: number, count: number): bigint {
  const upTo = (days: number): bigint => (BigInt(total) * BigInt(days)) / BigInt(count);
  return upTo(day + 1) - upTo(day);
}
