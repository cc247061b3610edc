import { netUnits, noCounts } from '../../store/records/counts.js';
import { daysFrom } from '../../../shared/utc-day.js';
import type { Accounts } from '../../store/ledger.js';
import { OTHER, type PlotDay } from '../../usage/daily/summed.js';
import type { DailyReport } from '../../usage/shown-report.js';
import type { Dimension } from '../../usage/grouping/range.js';
import type { ReportRow } from '../../usage/grouping/groups.js';
import { withNames } from '../../usage/names.js';

/** Net units by day and a dimension: as sums, or as rows of a report by day and plan. */
export interface NamedPlot {
  readonly by: Dimension;
  readonly days: readonly (PlotDay | ReportRow)[];
}

/** Adds names to IDs of keys and customers; different ones may have the same name. */
export async function namedPlot({ by, days }: DailyReport['plot'], accounts: Accounts): Promise<NamedPlot> {
  if (by !== 'key' && by !== 'customer') return { by, days };
  const ids = new Set(days.flatMap(({ parts }) => [...parts.keys()]));
  const rows = await withNames(
    [...ids].map((id) => ({ ...noCounts(), [by]: id, name: '' })),
    accounts,
  );
  const shown = new Map(rows.map((row) => [row[by], row.name === '' ? row[by]! : `${row.name} (${row[by]})`]));
  return {
    by,
    days: days.map(({ day, parts }) => ({
      day,
      parts: new Map([...parts].map(([id, units]) => [id === OTHER ? id : shown.get(id)!, units])),
    })),
  };
}

/** Returns a bar for every day of the range, even without traffic. @param openFrom days before it are final */
export function barsOf(
  { from, to }: { readonly from: string; readonly to: string },
  { days }: NamedPlot,
  isFinal: (day: string) => boolean,
) {
  const byDay = new Map<string, Map<string, number>>();
  for (const day of daysFrom(from, to)) byDay.set(day, new Map());
  for (const each of days) {
    if ('parts' in each) for (const [name, units] of each.parts) byDay.get(each.day)?.set(name, units);
    else if (netUnits(each) > 0) byDay.get(each.day ?? '')?.set(each.plan ?? '', netUnits(each));
  }
  return [...byDay].map(([label, parts]) => ({ label, parts, pale: parts.size > 0 && !isFinal(label) }));
}
