import type { Accounts } from '../store/ledger.js';
import { areCorrected } from '../store/records/correction.js';
import { withCorrections } from './grouping/corrections.js';
import type { Ledger, ReportRow } from './grouping/groups.js';
import { isFinal, missingIn, viewOf, type Dimension, type ReportRange } from './grouping/range.js';
import type { ReadReport } from './read-report.js';
import { customerOf } from '../store/records/customer-id.js';
import { sumsOf } from './table.js';
import { plotted, summed, type Days, type PlotDay } from './daily/summed.js';

/** A report for a page: at most `max` rows, without names and references. */
export interface DailyReport extends ReadReport {
  readonly plot: { readonly by: Exclude<Dimension, 'day'>; readonly days: readonly PlotDay[] };
}

/**
 * Makes a report of days in memory. Corrections, plans and prices are read now.
 * @param isShown which rows are shown; totals and plot include all
 */
export async function reportOfDays(
  asked: ReportRange,
  days: Days,
  accounts: Accounts,
  max: number,
  isShown: (row: ReportRow) => boolean,
): Promise<DailyReport> {
  const corrections = asked.corrections !== false && (await areCorrected(accounts));
  const range = { ...asked, corrections };
  const { key, customer } = range;
  const isWanted = (id: string): boolean =>
    (key === undefined || id === key) && (customer === undefined || customerOf(id) === customer);
  const by: readonly Dimension[] = range.prices === undefined ? range.by : ['customer', 'plan', 'day'];
  const counted: Ledger = summed(days, by, isWanted);
  const table = sumsOf(range, corrections ? withCorrections(counted, accounts, range) : counted, accounts);
  const rows: ReportRow[] = [];
  let left = 0;
  for await (const some of table.rows)
    for (const row of some) {
      if (!isShown(row)) continue;
      if (rows.length < max) rows.push(row);
      else left += 1;
    }
  const dimension = range.by.find((each) => each !== 'day') ?? 'plan';
  return {
    final: isFinal(range),
    waitingFor: (range.waitingFor ?? []).map(viewOf),
    without: missingIn(range).map(viewOf),
    ...{ rows, left, totals: table.totals() },
    plot: { by: dimension, days: await plotted(days, dimension, isWanted) },
  };
}
