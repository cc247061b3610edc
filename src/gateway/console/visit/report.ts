import { ofReport, readQuery } from '../../actions/input/query.js';
import { reportOf, reportRange } from '../../actions/usage/reports.js';
import { searchOf } from '../../pages/components/pager.js';
import { reportIn, type Report } from '../../usage/grouping/report-rows.js';
import type { Visit } from './page.js';

/** Returns the report that `GET /admin/v1/usage` would give for this query. */
export async function reportFor(
  { parts }: Pick<Visit, 'parts'>,
  query: Readonly<Record<string, string | undefined>>,
): Promise<Report> {
  const { range, nowMs } = await reportRange(parts, readQuery(searchOf(query), ofReport));
  return reportIn(reportOf(parts, 'rows', range, nowMs));
}
