import { termsOn, type Payer } from '../../../accounts/plans/days.js';
import type { Price } from '../../../admission/plan.js';
import type { Accounts } from '../../../store/ledger.js';
import type { UsageStore } from '../../../store/port.js';
import { daysFrom } from '../../../../shared/utc-day.js';
import { accountsIn } from '../../amounts/accounts.js';
import { dayCharges, type DayCharge } from '../../amounts/bill.js';
import { withHistory, reportable, type WithHistory } from '../../amounts/month.js';
import { withCorrections } from '../../grouping/corrections.js';
import { isFinal } from '../../grouping/range.js';
import { judge, type Judgement } from './limits.js';
import { LedgerTally, type LedgerOutcome } from './tally.js';
import type { LedgerScript, NewPlan } from './script.js';
import { summingFor, type Use } from './use.js';

/** Tries plans on a month of the ledger. Rejects with StoreUnavailable or ArchiveUnavailable. */
export async function rehearseLedger(
  script: LedgerScript,
  usage: UsageStore,
  accounts: Accounts,
): Promise<LedgerOutcome> {
  const { from, to } = script.range;
  const ledger = withCorrections(usage.rows(from, to), accounts, { from, to });
  const rehearsal = new LedgerRehearsal(script);
  const found = accountsIn({}, ledger, accounts, rehearsal.summing);
  for await (const some of withHistory(found, accounts)) for (const account of some) rehearsal.add(account);
  return { from, to, final: isFinal({ ...script.range, by: [] }), ...rehearsal.tally.end() };
}

/** Yields the outcome as JSON, in one piece. */
export async function* rehearsalAsJson(...args: Parameters<typeof rehearseLedger>): AsyncGenerator<string, void> {
  yield JSON.stringify(await rehearseLedger(...args));
}

class LedgerRehearsal {
  readonly summing: ReturnType<typeof summingFor>;
  readonly tally: LedgerTally;
  readonly #plans: ReadonlyMap<string, NewPlan>;
  readonly #days: readonly string[];
  readonly #before: ReadonlyMap<string, Price | null>;
  readonly #after: ReadonlyMap<string, Price | null>;

  constructor({ range: { from, to }, plans, prices }: LedgerScript) {
    this.#plans = new Map(Object.entries(plans));
    this.#days = [...daysFrom(from, to)];
    this.#before = new Map(Object.entries(prices));
    this.#after = new Map([...this.#plans].map(([name, { price }]) => [name, price]));
    this.summing = summingFor(this.#plans);
    const isPriced = [...this.#before.values(), ...this.#after.values()].some((price) => price !== null);
    this.tally = new LedgerTally(new Set(this.#plans.keys()), isPriced);
  }

  add({ id, record, sums: use, history }: WithHistory<Use>): void {
    const terms = record === undefined ? [] : termsOn(record, history, this.#days);
    const judged = judge(use, this.#plans, (day) => terms[this.#days.indexOf(day)]?.limits ?? null);
    const planOf = this.#days.map((_, n) => terms[n]?.plan ?? null);
    const parts = (prices: ReadonlyMap<string, Price | null>, unitsOf: UnitsOf): readonly DayCharge[] => {
      const units = [...use].map(([plan, days]) => [plan, this.#days.map((day) => unitsOf(days, plan, day))] as const);
      return reportable(dayCharges({ planOf, units: new Map(units) }, prices), prices, use, this.#days);
    };
    this.tally.add({ id, name: nameOf(record), isKnown: record !== undefined }, use, judged, {
      before: parts(this.#before, (days, _, day) => withCorrected(days.get(day), days.get(day)?.units)),
      after: parts(this.#after, (days, plan, day) => withCorrected(days.get(day), passing(judged, plan, day))),
    });
  }
}

type UnitsOf = (days: NonNullable<ReturnType<Use['get']>>, plan: string, day: string) => number | undefined;

function withCorrected(day: { readonly corrected: number } | undefined, units: number | undefined): number | undefined {
  return day === undefined || units === undefined ? undefined : units + day.corrected;
}

function passing({ units }: Judgement, plan: string, day: string): number | undefined {
  return units.get(plan)?.get(day);
}

function nameOf(record: Payer | undefined): string {
  return record?.name ?? '';
}
