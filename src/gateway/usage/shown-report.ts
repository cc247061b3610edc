import type { Accounts } from '../store/ledger.js';
import { customerOf } from '../store/records/customer-id.js';
import { plotted, summed, type Days, type PlotDay } from './daily/summed.js';
import type { ReportRow } from './grouping/groups.js';
import { isFinal, missingIn, type Dimension, type ReportRange } from './grouping/range.js';
import type { Missing } from '../store/finality.js';
import type { Report, ReportEnd } from './grouping/report-rows.js';
import { reportOn } from './report.js';

/** A report for a page: a limited number of rows, without names and references. */
export interface ShownReport extends ReportEnd {
  readonly final: boolean;
  /** Gateways that days wait for, and those whose counts final days may lack. */
  readonly missing: readonly Missing[];
  readonly rows: readonly ReportRow[];
  /** Number of rows beyond `max`. */
  readonly left: number;
}

/** Which rows a page shows, and how many at most; totals include all. */
interface Shown {
  readonly max: number;
  readonly isShown: (row: ReportRow) => boolean;
}

export async function shownOf(range: ReportRange, report: Report, { max, isShown }: Shown): Promise<ShownReport> {
  const rows: ReportRow[] = [];
  let left = 0;
  for await (const some of report.rows)
    for (const row of some) {
      if (!isShown(row)) continue;
      if (rows.length < max) rows.push(row);
      else left += 1;
    }
  const missing = [...(range.waitingFor ?? []), ...missingIn(range)];
  return { final: isFinal(range), missing, rows, left, ...report.end() };
}

export interface DailyReport extends ShownReport {
  readonly plot: { readonly by: Exclude<Dimension, 'day'>; readonly days: readonly PlotDay[] };
}

/**
 * Makes a report of days in memory. Corrections, plans and prices are read now. The plot includes all rows. Without all
 * days it has no amounts: included units may be used up on the others.
 */
export async function reportOfDays(
  range: ReportRange,
  days: Days,
  accounts: Accounts,
  shown: Shown,
): Promise<DailyReport> {
  const { key, customer } = range;
  const isWanted = (id: string): boolean =>
    (key === undefined || id === key) && (customer === undefined || customerOf(id) === customer);
  const { prices, ...counts } = range;
  const hasAmounts = prices !== undefined && days.unread === 0;
  const by: readonly Dimension[] = hasAmounts ? ['customer', 'plan', 'day'] : range.by;
  const { report } = await reportOn(hasAmounts ? range : counts, summed(days, by, isWanted), accounts);
  const dimension = range.by.find((each) => each !== 'day') ?? 'plan';
  return {
    ...(await shownOf(range, report, shown)),
    plot: { by: dimension, days: await plotted(days, dimension, isWanted) },
  };
}
