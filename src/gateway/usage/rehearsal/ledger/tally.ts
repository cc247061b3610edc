import type { DayCharge } from '../../amounts/bill.js';
import { Money } from '../../amounts/money.js';
import type { MoneyView } from '../../grouping/money-view.js';
import { isOwedOtherwise, type Owed } from '../bills.js';
import { Largest } from './largest.js';
import type { Excess, Judgement } from './limits.js';
import type { Use } from './use.js';

/** Maximum number of payers, and of excesses, to list. */
const MAX_LISTED = 1_000;

/** Figures of a plan, or of one customer (or key without one) on it. */
export interface LedgerRow {
  readonly plan: string;
  /** ID; null for the whole plan. */
  readonly payer: string | null;
  /** Empty if there is none, or it was erased. */
  readonly name: string;
  /** Counted requests and their units, and refused requests, whose cost is unknown. */
  readonly before: { readonly requests: number; readonly units: number; readonly refused: number };
  /** Units that fit the new day and month windows, at the new costs. */
  readonly after: { readonly units: number };
  /** Units that do not fit. */
  readonly above: number;
  /** Absent if no plan has a price. */
  readonly owed?: Owed | undefined;
}

/** A payer's excess over a window of the new plans. */
type PayerExcess = Excess & Pick<LedgerRow, 'payer' | 'name'>;

/** The outcome of a month of the ledger under other plans. */
export interface LedgerOutcome extends LedgerSums {
  /** UTC days. */
  readonly from: string;
  readonly to: string;
  /** False if counts of the month may still grow. */
  readonly final: boolean;
}

interface LedgerSums {
  readonly plans: readonly LedgerRow[];
  /** Payers whose figures change, the most units above first. */
  readonly payers: readonly LedgerRow[];
  readonly payersUnlisted: number;
  /** The largest first. */
  readonly excesses: readonly PayerExcess[];
  readonly excessesUnlisted: number;
  /** Known sums by currency; absent if no plan has a price. */
  readonly owed?: Owed<readonly MoneyView[]> | undefined;
  /** Number of requests by plan, for plans that the new ones lack. */
  readonly missingPlans: Readonly<Record<string, number>>;
}

interface Sum {
  readonly before: { requests: number; units: number; refused: number };
  readonly after: { units: number };
  above: number;
  readonly money: { readonly before: Money; readonly after: Money };
}

/** Sums up a month's payers. */
export class LedgerTally {
  readonly #known: ReadonlySet<string>;
  readonly #isPriced: boolean;
  readonly #plans = new Map<string, Sum>();
  readonly #money = { before: new Money(), after: new Money() };
  readonly #payers = new Largest<LedgerRow>(MAX_LISTED, (row) => row.above);
  readonly #excesses = new Largest<PayerExcess>(MAX_LISTED, ({ units }) => units);

  constructor(known: ReadonlySet<string>, isPriced: boolean) {
    this.#known = known;
    this.#isPriced = isPriced;
  }

  /** Adds a payer. @param parts what it owes, `reportable` parts only */
  add(
    { id, name, isKnown }: { readonly id: string; readonly name: string; readonly isKnown: boolean },
    use: Use,
    { units, excesses }: Judgement,
    parts: { readonly before: readonly DayCharge[]; readonly after: readonly DayCharge[] },
  ): void {
    const sums = new Map<string, Sum>();
    for (const [plan, days] of use) {
      const sum = sumIn(sums, plan);
      for (const [day, { requests, units: counted, asked, refused }] of days) {
        const passing = units.get(plan)?.get(day) ?? 0;
        addTo(sum, {
          before: { requests, units: counted, refused },
          after: { units: passing },
          above: asked - passing,
        });
      }
      if (!isKnown) for (const money of moneyOf(sum)) money.unknown('it has no record');
    }
    for (const side of ['before', 'after'] as const)
      for (const part of parts[side]) sumIn(sums, part.plan).money[side].add(part);
    for (const [plan, sum] of sums) {
      addTo(sumIn(this.#plans, plan), sum);
      for (const all of [sumIn(this.#plans, plan).money, this.#money]) {
        all.before.take(sum.money.before);
        all.after.take(sum.money.after);
      }
      const row = this.#rowOf(plan, sum, { payer: id, name });
      if (isChanged(row)) this.#payers.add(row);
    }
    for (const excess of excesses) this.#excesses.add({ payer: id, name, ...excess });
  }

  end(): LedgerSums {
    const plans = [...this.#plans].sort(([one], [other]) => (one < other ? -1 : 1));
    const missing = plans.filter(([plan, { before }]) => !this.#known.has(plan) && before.requests > 0);
    const { before, after } = this.#money;
    return {
      plans: plans.map(([plan, sum]) => this.#rowOf(plan, sum, { payer: null, name: '' })),
      payers: this.#payers.list(),
      payersUnlisted: this.#payers.left,
      excesses: this.#excesses.list(),
      excessesUnlisted: this.#excesses.left,
      ...(this.#isPriced ? { owed: { before: before.byCurrency(), after: after.byCurrency() } } : {}),
      missingPlans: Object.fromEntries(missing.map(([plan, sum]) => [plan, sum.before.requests])),
    };
  }

  #rowOf(plan: string, { before, after, above, money }: Sum, whose: Pick<LedgerRow, 'payer' | 'name'>): LedgerRow {
    const owed = this.#isPriced ? { owed: { before: money.before.view(), after: money.after.view() } } : {};
    return { plan, ...whose, before, after, above, ...owed };
  }
}

function sumIn(sums: Map<string, Sum>, plan: string): Sum {
  let sum = sums.get(plan);
  if (sum === undefined) {
    const money = { before: new Money(), after: new Money() };
    sum = { before: { requests: 0, units: 0, refused: 0 }, after: { units: 0 }, above: 0, money };
    sums.set(plan, sum);
  }
  return sum;
}

function addTo(sum: Sum, { before, after, above }: Pick<Sum, 'before' | 'after' | 'above'>): void {
  sum.before.requests += before.requests;
  sum.before.units += before.units;
  sum.before.refused += before.refused;
  sum.after.units += after.units;
  sum.above += above;
}

function moneyOf({ money }: Sum): readonly Money[] {
  return [money.before, money.after];
}

function isChanged({ before, after, above, owed }: LedgerRow): boolean {
  return above > 0 || before.units !== after.units || isOwedOtherwise(owed);
}
