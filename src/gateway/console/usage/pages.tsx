import { dayOf } from '../../../shared/utc-day.js';
import { lastDayOf } from '../../../shared/utc-month.js';
import { AdminRefusal } from '../../actions/answer.js';
import { readQuery, ofReport } from '../../actions/input/query.js';
import { reportOf, reportRange } from '../../actions/usage/reports.js';
import { searchOf } from '../../pages/components/pager.js';
import { withNames } from '../../usage/names.js';
import { reportIn } from '../../usage/grouping/report-rows.js';
import { reportOfDays, shownOf, type DailyReport, type ShownReport } from '../../usage/shown-report.js';
import { problemsOf } from '../visit/api.js';
import { page, type Page, type PageAnswer, type Visit } from '../visit/page.js';
import { arrange, arrangementOf, isByName } from './arrange.js';
import { namedPlot } from './plot.js';
import { finderOf } from './search.js';
import { UsageView, type UsageQuery, type UsageReport } from './view.js';

const REPORT = 'GET /admin/v1/usage';
/** Most rows that a page sorts; the rest are only in the CSV file. */
const MAX_ROWS = 10_000;

export const USAGE_PAGES: readonly Page[] = [
  page('GET /usage', REPORT, 'Usage', { menu: 'Usage', serve: shown }),
  page('GET /usage/report.csv', REPORT, 'Usage as CSV', { serve: (visit) => download(visit, 'csv') }),
  page('GET /usage/report.json', REPORT, 'Usage as JSON', { serve: (visit) => download(visit, 'json') }),
];

async function shown(visit: Visit): Promise<PageAnswer> {
  const query = queryOf(visit);
  const search = visit.query.given('search');
  const parts = { query, search, nowMs: visit.nowMs, arrangement: arrangementOf(visit.query) };
  try {
    return { content: <UsageView {...parts} report={await usageReport(visit, query, search)} problems={[]} /> };
  } catch (error) {
    return { status: 400, content: <UsageView {...parts} report={null} problems={problemsOf(error)} /> };
  }
}

/** Makes the report of the days in memory; of the ledger if they do not fit there. */
async function usageReport(visit: Visit, query: UsageQuery, search: string | undefined): Promise<UsageReport> {
  const { parts, daily } = visit;
  const { engine } = parts;
  const { range, nowMs } = await reportRange(parts, readQuery(searchOf(query), ofReport));
  const matching = { max: MAX_ROWS, isShown: await finderOf(parts.registry, search) };
  const days = await daily.days(range, nowMs);
  const { unread = 0, readInMs = 0, openAtMs = null } = days ?? {};
  const report: ShownReport & Partial<DailyReport> =
    days === null
      ? await shownOf(range, reportIn(reportOf(parts, 'rows', { ...range, days: true }, nowMs)), matching)
      : await reportOfDays(range, days, engine, matching);
  const arrangement = arrangementOf(visit.query);
  const isNamed = isByName(arrangement);
  const shown = arrange(isNamed ? await withNames(report.rows, engine) : report.rows, arrangement);
  return {
    ...{ ...report, openFrom: range.openFrom, unread, readInMs, openAtMs },
    plot: report.plot ? await namedPlot(report.plot, engine) : { by: 'plan', days: report.days ?? [] },
    shown: isNamed ? shown : { ...shown, rows: await withNames(shown.rows, engine) },
  };
}

async function download({ api, ...visit }: Visit, format: 'csv' | 'json'): Promise<PageAnswer> {
  const query = queryOf(visit);
  const answer = await api.answer(REPORT, { query: { ...query, format } });
  if (answer === undefined || !('chunks' in answer))
    throw new AdminRefusal(503, 'busy', 'There is no report now. Try again.');
  const type = format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/json';
  const headers = { 'Content-Disposition': `attachment; filename="${nameOf(query)}.${format}"` };
  return { type, chunks: answer.chunks, headers };
}

/** Returns a file name, such as `usage-2026-10-customer` for a whole month. */
function nameOf({ from, to, by }: UsageQuery): string {
  const isMonth = from.endsWith('-01') && to === lastDayOf(from.slice(0, 7));
  const range = isMonth ? from.slice(0, 7) : `${from}-${to}`;
  return `usage-${range}-${by}`.replace(/[^\w-]/g, '-');
}

/** Defaults to this month, by customer. */
function queryOf({ query, nowMs }: Pick<Visit, 'query' | 'nowMs'>): UsageQuery {
  const month = dayOf(nowMs).slice(0, 7);
  const [from, to] = [query.given('from') ?? `${month}-01`, query.given('to') ?? lastDayOf(month)];
  const by = query.given('by') ?? 'customer';
  return { from, to, by, customer: query.given('customer'), key: query.given('key') };
}
