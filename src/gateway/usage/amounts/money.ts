import { MONEY, type Figure, type MoneyView } from '../grouping/money-view.js';
import type { DayCharge } from './bill.js';

type Sum = Record<(typeof MONEY)[number], bigint>;

/** Sums up parts by currency. An unknown amount makes the sum unknown: it never counts as zero. */
export class Money {
  readonly #sums = new Map<string, Sum>();
  readonly #unknown = new Set<string>();

  add(part: DayCharge): void {
    if (part.price === null) this.#unknown.add(`no price of ${part.plan}`);
    else this.#put(part.price.currency, part);
  }

  unknown(why: string): void {
    this.#unknown.add(why);
  }

  take(other: Money): void {
    for (const why of other.#unknown) this.#unknown.add(why);
    for (const [currency, sum] of other.#sums) this.#put(currency, sum);
  }

  /** Returns the sum, without figures if there are several currencies or anything is unknown. */
  view(): MoneyView {
    const reasons = [...this.#unknown].sort();
    if (this.#sums.size > 1) reasons.push('several currencies');
    const [sum] = this.#sums.values();
    return {
      currency: [...this.#sums.keys()].sort().join(' ') || undefined,
      ...(sum === undefined || reasons.length > 0 ? {} : figuresOf(sum)),
      unknown: reasons.join('; ') || undefined,
    };
  }

  /** Returns the known sum for each currency. */
  byCurrency(): readonly MoneyView[] {
    return [...this.#sums].sort().map(([currency, sum]) => ({ currency, ...figuresOf(sum) }));
  }

  #put(currency: string, more: Sum | DayCharge): void {
    const sum = this.#sums.get(currency) ?? { base: 0n, included: 0n, overage: 0n, amount: 0n };
    for (const field of MONEY) sum[field] += more[field];
    this.#sums.set(currency, sum);
  }
}

function figuresOf(sum: Sum): MoneyView {
  return Object.fromEntries(MONEY.map((field) => [field, figureOf(sum[field])]));
}

function figureOf(exact: bigint): Figure {
  return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact.toString();
}
