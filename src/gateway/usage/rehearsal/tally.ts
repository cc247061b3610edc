import type { DayCharge } from '../amounts/bill.js';
import { Money } from '../amounts/money.js';
import type { MoneyView } from '../grouping/money-view.js';
import { Largest } from './largest.js';

/** What there is under the original plans (null if unknown) and under the new ones. */
export interface BeforeAndAfter<Both, Before = Both | null> {
  readonly before: Before;
  readonly after: Both;
}

const SIDES = ['before', 'after'] as const;
type Counts = Record<string, number>;

/** Counts of a log or of the ledger under the original plans and under the new ones. */
export interface Figures {
  readonly before: Counts;
  readonly after: Counts;
  /** Units that do not fit the new plans; only of the ledger. */
  above?: number;
}

/** A customer, or a key without one. */
interface Whose {
  /** ID; null for the whole plan. */
  readonly payer: string | null;
}

/** Figures of a plan, or of one payer on it. */
export type Row<Its extends Figures, Of extends Whose = Whose> = Its &
  Of & {
    readonly plan: string;
    /** Absent if no plan has a price. */
    readonly owed?: BeforeAndAfter<MoneyView> | undefined;
  };

/** The sums of a log or of the ledger. */
export interface Sums<Its extends Figures, Of extends Whose = Whose> {
  readonly plans: readonly Row<Its, Of>[];
  /** Payers whose figures change, those that lose most first. */
  readonly payers: readonly Row<Its, Of>[];
  /** Known sums by currency; absent if no plan has a price. */
  readonly owed?: BeforeAndAfter<readonly MoneyView[]> | undefined;
}

interface Sum<Its> {
  readonly figures: Its;
  money?: BeforeAndAfter<Money> | undefined;
}

/** Sums up what new plans change, in one row per plan and payer. */
export class Tally<Its extends Figures, Of extends Whose = Whose> {
  readonly #payers: Largest<Row<Its, Of>>;
  readonly #none: () => Its;
  readonly #whole: Of;
  readonly #plans = new Map<string, Sum<Its>>();
  #money: BeforeAndAfter<Money> | undefined;

  /** @param whole takes the place of a payer in the row of a plan */
  constructor(none: () => Its, lost: (figures: Its) => number, whole: Of, maxPayers = Infinity) {
    this.#none = none;
    this.#whole = whole;
    this.#payers = new Largest<Row<Its, Of>>(maxPayers, lost);
  }

  /**
   * Adds the figures of a payer by plan; without an ID, only to the plans.
   * @param parts what it owes; absent if no plan has a price @param unknown why nobody knows
   */
  add(
    whose: Of,
    figures: ReadonlyMap<string, Its>,
    parts?: BeforeAndAfter<readonly DayCharge[]>,
    unknown?: string,
  ): void {
    const owing = parts === undefined ? [] : [...(parts.before ?? []), ...parts.after];
    for (const plan of new Set([...figures.keys(), ...owing.map((part) => part.plan)])) {
      const its = figures.get(plan) ?? this.#none();
      const sum = this.#plans.get(plan) ?? { figures: this.#none() };
      this.#plans.set(plan, sum);
      addTo(sum.figures, its);
      const money = parts && moneyOf(parts, plan, unknown);
      if (money !== undefined) {
        sum.money = taken(sum.money, money);
        this.#money = taken(this.#money, money);
      }
      if (whose.payer === null) continue;
      const row = { plan, ...whose, ...its, owed: money && viewOf(money) };
      if (isChanged(row)) this.#payers.add(row);
    }
  }

  /** Returns the sums, and the number of payers that are not listed. */
  end(): Sums<Its, Of> & { readonly payersUnlisted: number } {
    const plans = [...this.#plans]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([plan, { figures, money }]) => ({ plan, ...this.#whole, ...figures, owed: money && viewOf(money) }));
    const owed = this.#money && mapped(this.#money, (money) => money.byCurrency());
    return { plans, payers: this.#payers.list(), payersUnlisted: this.#payers.left, owed };
  }
}

function addTo(sum: Figures, more: Figures): void {
  for (const side of SIDES)
    for (const [name, count] of Object.entries(more[side])) sum[side][name] = (sum[side][name] ?? 0) + count;
  if (more.above !== undefined) sum.above = (sum.above ?? 0) + more.above;
}

function moneyOf(
  parts: BeforeAndAfter<readonly DayCharge[]>,
  plan: string,
  unknown: string | undefined,
): BeforeAndAfter<Money> {
  return mapped(parts, (its) => {
    const money = new Money();
    for (const part of its) if (part.plan === plan) money.add(part);
    if (unknown !== undefined) money.unknown(unknown);
    return money;
  });
}

function taken(sum: BeforeAndAfter<Money> | undefined, more: BeforeAndAfter<Money>): BeforeAndAfter<Money> {
  const all = sum ?? mapped(more, () => new Money());
  for (const side of SIDES) if (more[side] !== null) all[side]?.take(more[side]);
  return all;
}

function viewOf(money: BeforeAndAfter<Money>): BeforeAndAfter<MoneyView> {
  return mapped(money, (its) => its.view());
}

function mapped<From, To>({ before, after }: BeforeAndAfter<From>, map: (from: From) => To): BeforeAndAfter<To> {
  return { before: before === null ? null : map(before), after: map(after) };
}

/** Whether the new plans change a count, the amount, or why it is unknown. */
function isChanged({ before, after, above = 0, owed }: Figures & Pick<Row<Figures>, 'owed'>): boolean {
  if (above > 0 || Object.keys(after).some((name) => before[name] !== after[name])) return true;
  const [was, is] = [owed?.before, owed?.after];
  return !!was && !!is && (['amount', 'currency', 'unknown'] as const).some((name) => was[name] !== is[name]);
}
