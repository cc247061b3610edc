import type { Corrected, UsageCounts } from '../store/counts.js';
import type { Accounts } from '../store/ledger.js';
import { Amounts } from './amounts/rows.js';
import type { MoneyView } from './amounts/money.js';
import { Groups, type Ledger, type ReportRow } from './groups.js';
import { Names } from './names.js';
import { labelsOf, type ReportRange } from './range.js';

/** A report before it is written as something. */
export interface Table {
  /** As they are done; the first batch as soon as the store has answered, empty or not, so that a head can go out. */
  readonly rows: AsyncIterable<readonly ReportRow[]>;
  /** Whole once all rows were read. With amounts also what they are in each currency, of what is known. */
  totals(): UsageCounts & Partial<Corrected> & MoneyView & { readonly amounts?: readonly MoneyView[] };
}

/** @param accounts to look up names, references and plans; left out, these are empty, and no amounts known */
export function tableOf(range: ReportRange, ledger: Ledger, accounts?: Accounts): Table {
  const names = namesFor(range, accounts);
  if (range.prices !== undefined && accounts !== undefined) {
    const amounts = new Amounts(range, accounts);
    const totals: Table['totals'] = () => ({
      ...amounts.totals,
      ...(range.corrections === true ? amounts.corrected : {}),
      ...amounts.owed,
      amounts: amounts.byCurrency,
    });
    return { rows: named(amounts.rows(ledger), names), totals };
  }
  const groups = new Groups(range);
  return {
    rows: named(grouped(groups, ledger), names),
    totals: () => (range.corrections === true ? { ...groups.totals, ...groups.corrected } : groups.totals),
  };
}

/** Looks up what stands beside ids; undefined where nobody asks for it. */
function namesFor(range: ReportRange, accounts?: Accounts): Names | undefined {
  const isAsked = labelsOf(range).some((label) => label === 'name' || label === 'reference');
  return accounts !== undefined && isAsked ? new Names(accounts) : undefined;
}

async function* named(
  batches: AsyncIterable<readonly ReportRow[]>,
  names: Names | undefined,
): AsyncGenerator<readonly ReportRow[], void> {
  for await (const rows of batches) yield names === undefined ? rows : await names.added(rows);
}

async function* grouped(groups: Groups, ledger: Ledger): AsyncGenerator<readonly ReportRow[], void> {
  let answered = false;
  for await (const batch of ledger) {
    const rows = groups.take(batch);
    if (rows.length > 0 || !answered) yield rows;
    answered = true;
  }
  const rest = groups.flush();
  if (rest.length > 0 || !answered) yield rest;
}
