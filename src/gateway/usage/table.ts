import type { Corrected, UsageCounts } from '../store/records/counts.js';
import type { Accounts } from '../store/ledger.js';
import { Amounts } from './amounts/rows.js';
import type { MoneyView } from './grouping/money-view.js';
import { Groups, type Ledger, type ReportRow } from './grouping/groups.js';
import { Names } from './names.js';
import { labelsOf, type ReportRange } from './grouping/range.js';

/** A report before formatting. */
export interface Table {
  /** Rows as completed. The first batch, even if empty, comes once the store responds, so that a head can be sent. */
  readonly rows: AsyncIterable<readonly ReportRow[]>;
  /** Complete once all rows are read. With amounts, includes the known sums by currency. */
  totals(): UsageCounts & Partial<Corrected> & MoneyView & { readonly amounts?: readonly MoneyView[] };
}

/** @param accounts for names, references and plans; without it, these are empty and amounts absent */
export function tableOf(range: ReportRange, ledger: Ledger, accounts?: Accounts): Table {
  const sums = sumsOf(range, ledger, accounts);
  return { ...sums, rows: named(sums.rows, namesFor(range, accounts)) };
}

/** Returns the table without names and references. */
export function sumsOf(range: ReportRange, ledger: Ledger, accounts?: Accounts): Table {
  if (range.prices !== undefined && accounts !== undefined) {
    const amounts = new Amounts(range, accounts);
    const totals: Table['totals'] = () => ({
      ...amounts.totals,
      ...(range.corrections === true ? amounts.corrected : {}),
      ...amounts.owed,
      amounts: amounts.byCurrency,
    });
    return { rows: amounts.rows(ledger), totals };
  }
  const groups = new Groups(range);
  return {
    rows: grouped(groups, ledger),
    totals: () => (range.corrections === true ? { ...groups.totals, ...groups.corrected } : groups.totals),
  };
}

/** Returns what looks up names and references; undefined if none are needed. */
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
  let isBegun = false;
  for await (const batch of ledger) {
    const rows = groups.take(batch);
    if (rows.length > 0 || !isBegun) yield rows;
    isBegun = true;
  }
  const rest = groups.flush();
  if (rest.length > 0 || !isBegun) yield rest;
}
