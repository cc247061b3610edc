import type { Part } from '../../amounts/bill.js';
import { Money } from '../../amounts/money.js';
import type { MoneyView } from '../../grouping/money-view.js';
import { isOwedOtherwise, type Owed } from '../bills.js';
import { Largest } from './largest.js';
import type { Excess, Judgement } from './limits.js';
import type { Use } from './use.js';

/** More are counted, not listed. */
const MAX_LISTED = 1_000;

/** Of one plan, or of one customer (or key without one) on it. */
export interface LedgerRow {
  readonly plan: string;
  /** Null where the row is of all on the plan. */
  readonly payer: string | null;
  /** Empty where there is none, or where it was erased. */
  readonly name: string;
  /** Requests that were counted, units of them, and requests that were refused: nobody knows what these would cost. */
  readonly before: { readonly requests: number; readonly units: number; readonly refused: number };
  /** Units that the new days and months hold of them, at what requests cost on the new plan. */
  readonly after: { readonly units: number };
  /** Units that they don't hold. */
  readonly above: number;
  /** Left out where no plan has a price. */
  readonly owed?: Owed | undefined;
}

/** A window of the new plans that is too small for what was used. */
type PayerExcess = Excess & Pick<LedgerRow, 'payer' | 'name'>;

/** What other plans would have made of a month of the ledger. */
export interface LedgerOutcome extends LedgerSums {
  /** UTC days. */
  readonly from: string;
  readonly to: string;
  /** False: the month still grows. */
  readonly final: boolean;
}

interface LedgerSums {
  readonly plans: readonly LedgerRow[];
  /** Those whose figures change, the hardest hit first. */
  readonly payers: readonly LedgerRow[];
  readonly payersUnlisted: number;
  /** The largest first. */
  readonly excesses: readonly PayerExcess[];
  readonly excessesUnlisted: number;
  /** In all, by currency, of what is known. */
  readonly owed?: Owed<readonly MoneyView[]> | undefined;
  /** Plans that were used and the new ones lack, with the number of their requests. */
  readonly missingPlans: Readonly<Record<string, number>>;
}

interface Sum {
  readonly before: { requests: number; units: number; refused: number };
  readonly after: { units: number };
  above: number;
  readonly money: { readonly before: Money; readonly after: Money };
}

/** What a month's payers come to. */
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

  /** @param parts what it owes, of days that are worth telling */
  add(
    { id, name, isKnown }: { readonly id: string; readonly name: string; readonly isKnown: boolean },
    use: Use,
    { units, excesses }: Judgement,
    parts: { readonly before: readonly Part[]; readonly after: readonly Part[] },
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
