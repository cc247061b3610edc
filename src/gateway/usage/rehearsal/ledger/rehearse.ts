import { termsOn } from '../../../accounts/plans/days.js';
import { pricesOf, type Plans } from '../../../admission/plan.js';
import type { Accounts } from '../../../store/ledger.js';
import type { UsageStore } from '../../../store/port.js';
import { daysFrom } from '../../../../shared/utc-day.js';
import { accountsIn } from '../../amounts/accounts.js';
import { chargesOf, withHistory, type WithHistory } from '../../amounts/month.js';
import { withCorrections } from '../../grouping/with-corrections.js';
import { isFinal, type ReportRange } from '../../grouping/range.js';
import type { Prices } from '../bills.js';
import { Largest } from '../largest.js';
import { Tally, type BeforeAndAfter, type Sums } from '../tally.js';
import { judge, type Excess } from './limits.js';
import { summingFor, type DayUse, type Use } from './use.js';

/** Plans to try on a month of the ledger. */
export interface LedgerScript {
  /** One whole month. */
  readonly range: Pick<ReportRange, 'from' | 'to' | 'openFrom' | 'waitingFor' | 'without'>;
  /** The plans in force. */
  readonly today: Plans;
  readonly plans: Plans;
  /** By operation, from the contract. */
  readonly costs: ReadonlyMap<string, number>;
}

interface LedgerFigures {
  /** Counted requests and their units, and refused requests, whose cost is unknown. */
  readonly before: Record<'requests' | 'units' | 'refused', number>;
  /** Units that fit the new day and month windows, at the new costs. */
  readonly after: { units: number };
  /** Units that do not fit. */
  above: number;
}

/** `name`: empty if there is none, or it was erased. */
interface Payer {
  readonly payer: string | null;
  readonly name: string;
}

/** The outcome of a month of the ledger under other plans. */
export interface LedgerOutcome extends Sums<LedgerFigures, Payer> {
  /** UTC days. */
  readonly from: string;
  readonly to: string;
  /** False if counts of the month may still grow. */
  readonly final: boolean;
  readonly payersUnlisted: number;
  /** Payers' excesses over windows of the new plans, the largest first. */
  readonly excesses: readonly (Excess & Payer)[];
  readonly excessesUnlisted: number;
  /** Number of requests by plan, for plans that the new ones lack. */
  readonly missingPlans: Readonly<Record<string, number>>;
}

/** Maximum number of payers, and of excesses, to list. */
const MAX_LISTED = 1_000;

/** Tries plans on a month of the ledger. Rejects with StoreUnavailable or ArchiveUnavailable. */
async function rehearseLedger(script: LedgerScript, usage: UsageStore, accounts: Accounts): Promise<LedgerOutcome> {
  const { from, to } = script.range;
  const ledger = withCorrections(usage.rows(from, to), accounts, { from, to });
  const rehearsal = new LedgerRehearsal(script);
  const found = accountsIn({}, ledger, accounts, summingFor(script));
  for await (const some of withHistory(found, accounts)) for (const account of some) rehearsal.add(account);
  return rehearsal.end();
}

/** Yields the outcome as JSON, in one piece. */
export async function* rehearsalAsJson(...args: Parameters<typeof rehearseLedger>): AsyncGenerator<string, void> {
  yield JSON.stringify(await rehearseLedger(...args));
}

class LedgerRehearsal {
  readonly #script: LedgerScript;
  readonly #days: readonly string[];
  readonly #prices: BeforeAndAfter<Prices, Prices>;
  readonly #isPriced: boolean;
  readonly #tally = new Tally<LedgerFigures, Payer>(none, ({ above }) => above, { payer: null, name: '' }, MAX_LISTED);
  readonly #excesses = new Largest<Excess & Payer>(MAX_LISTED, ({ units }) => units);

  constructor(script: LedgerScript) {
    this.#script = script;
    this.#days = [...daysFrom(script.range.from, script.range.to)];
    const [before, after] = [script.today, script.plans].map((plans) => new Map(Object.entries(pricesOf(plans))));
    this.#prices = { before: before!, after: after! };
    this.#isPriced = [...before!.values(), ...after!.values()].some((price) => price !== null);
  }

  add({ id: payer, record, sums: use, history }: WithHistory<Use>): void {
    const days = this.#days;
    const terms = record === undefined ? [] : termsOn(record, history, days);
    const judged = judge(use, this.#script.plans, (day) => terms[days.indexOf(day)]?.limits ?? null);
    const planOf = days.map((_, n) => terms[n]?.plan ?? null);
    const passing = ({ corrected }: DayUse, plan: string, day: string): number =>
      judged.units.get(plan)!.get(day)! + corrected;
    const whose = { payer, name: record?.name ?? '' };
    const { before, after } = this.#prices;
    this.#tally.add(
      whose,
      new Map([...use].map(([plan, its]) => [plan, figuresOf(its, judged.units.get(plan)!)])),
      this.#isPriced
        ? {
            before: chargesOf({ planOf, days, counted: use, prices: before }, (its) => its.units + its.corrected),
            after: chargesOf({ planOf, days, counted: use, prices: after }, passing),
          }
        : undefined,
      record === undefined ? 'it has no record' : undefined,
    );
    for (const excess of judged.excesses) this.#excesses.add({ ...whose, ...excess });
  }

  end(): LedgerOutcome {
    const { range, plans: known } = this.#script;
    const { plans, payers, payersUnlisted, owed } = this.#tally.end();
    const missing = plans.filter(({ plan, before }) => !known.has(plan) && before.requests > 0);
    return {
      ...{ from: range.from, to: range.to, final: isFinal(range), plans },
      ...{ payers, payersUnlisted },
      ...{ excesses: this.#excesses.list(), excessesUnlisted: this.#excesses.left },
      owed,
      missingPlans: Object.fromEntries(missing.map(({ plan, before }) => [plan, before.requests])),
    };
  }
}

function none(): LedgerFigures {
  return { before: { requests: 0, units: 0, refused: 0 }, after: { units: 0 }, above: 0 };
}

function figuresOf(days: ReadonlyMap<string, DayUse>, passing: ReadonlyMap<string, number>): LedgerFigures {
  const sum = none();
  for (const [day, { requests, units, asked, refused }] of days) {
    const passes = passing.get(day) ?? 0;
    sum.before.requests += requests;
    sum.before.units += units;
    sum.before.refused += refused;
    sum.after.units += passes;
    sum.above += asked - passes;
  }
  return sum;
}
