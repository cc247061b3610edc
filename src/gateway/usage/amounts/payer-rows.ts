import { planDays } from '../../accounts/plans/days.js';
import type { Price } from '../../admission/plan.js';
import {
  CORRECTED,
  addCorrected,
  addCounts,
  netUnits,
  noCorrections,
  noCounts,
  type Corrected,
  type Counts,
} from '../../store/records/counts.js';
import { withoutOn } from '../../store/finality.js';
import type { Accounts } from '../../store/ledger.js';
import { daysFrom } from '../../../shared/utc-day.js';
import type { Ledger, ReportRow } from '../grouping/groups.js';
import { isFinal, labelsOf, type ReportRange } from '../grouping/range.js';
import { accountsIn, type Summing } from './accounts.js';
import { Money } from './money.js';
import { chargesOf, withHistory, type WithHistory } from './month.js';

/** Counts and corrections by plan and day. */
type Counted = Map<string, Map<string, Counts & Corrected>>;

const SUMMING: Summing<Counted> = {
  begin: () => new Map(),
  add: (counted, row) => {
    let days = counted.get(row.plan);
    if (days === undefined) counted.set(row.plan, (days = new Map<string, Counts & Corrected>()));
    let sum = days.get(row.day);
    if (sum === undefined) days.set(row.day, (sum = { ...noCounts(), ...noCorrections() }));
    addCounts(sum, row);
    addCorrected(sum, row);
  },
};

/** Sums up a month's counts and what is owed, by payer, and by plan or day if these are dimensions. */
export class Amounts {
  readonly totals: Counts = noCounts();
  readonly corrected: Corrected = noCorrections();
  /** What all rows owe. */
  readonly money = new Money();
  readonly #range: ReportRange;
  readonly #accounts: Accounts;
  readonly #prices: ReadonlyMap<string, Price | null>;
  readonly #days: readonly string[];

  constructor(range: ReportRange, accounts: Accounts) {
    this.#range = range;
    this.#accounts = accounts;
    this.#prices = new Map(Object.entries(range.prices ?? {}));
    this.#days = [...daysFrom(range.from, range.to)];
  }

  async *rows(ledger: Ledger): AsyncGenerator<readonly ReportRow[], void> {
    const found = accountsIn(this.#range, ledger, this.#accounts, SUMMING);
    for await (const some of withHistory(found, this.#accounts)) yield some.flatMap((account) => this.#rowsOf(account));
  }

  #rowsOf({ id, record, sums: counted, history }: WithHistory<Counted>): readonly ReportRow[] {
    const days = this.#days;
    const planOf = record === undefined ? days.map(() => null) : planDays(record, history, days);
    const rows = new Map<string, Sum>();
    const sumOf = (plan: string, day: string): Sum => {
      const { by } = this.#range;
      const name = `${by.includes('day') ? day : ''} ${by.includes('plan') ? plan : ''}`;
      const sum = rows.get(name) ?? { plan, day, counts: { ...noCounts(), ...noCorrections() }, money: new Money() };
      rows.set(name, sum);
      return sum;
    };
    for (const [plan, sums] of counted)
      for (const [day, more] of sums) {
        const { counts } = sumOf(plan, day);
        addAll(counts, counts, more);
      }
    if (record === undefined) for (const sum of rows.values()) sum.money.unknown('it has no record');
    const billed = { planOf, days, counted, prices: this.#prices };
    for (const part of chargesOf(billed, (its) => netUnits(its) + its.correctedUnits))
      sumOf(part.plan, days[part.day]!).money.add(part);
    for (const { counts, money } of rows.values()) {
      addAll(this.totals, this.corrected, counts);
      this.money.take(money);
    }
    return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => this.#rowOf(id, sum));
  }

  #rowOf(payer: string, { plan, day, counts, money }: Sum): ReportRow {
    const range = this.#range;
    const { openFrom, without = [] } = range;
    const labels = labelsOf(range);
    const isOfDay = labels.includes('day');
    return {
      plan: labels.includes('plan') ? plan : undefined,
      customer: payer,
      reference: '',
      name: labels.includes('name') ? '' : undefined,
      day: isOfDay ? day : undefined,
      ...counts,
      ...(range.corrections === true ? {} : { correctedRequests: undefined, correctedUnits: undefined }),
      ...money.view(),
      final: isOfDay ? day < openFrom : isFinal(range),
      without: isOfDay && day < openFrom ? withoutOn(day, without) || undefined : undefined,
    };
  }
}

/** A row being summed. */
interface Sum {
  readonly plan: string;
  readonly day: string;
  readonly counts: Counts & Corrected;
  readonly money: Money;
}

function addAll(sums: Counts, corrected: Corrected, more: Counts & Corrected): void {
  addCounts(sums, more);
  for (const name of CORRECTED) corrected[name] += more[name];
}
