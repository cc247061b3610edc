import { AdminRefusal, type Answer } from '../../actions/answer.js';
import { dayOf } from '../../../shared/utc-day.js';
import { lastDayOf } from '../../../shared/utc-month.js';
import { readReport } from '../../usage/read-report.js';
import { readQuery, ofReport } from '../../actions/input/query.js';
import { reportRange } from '../../actions/usage/reports.js';
import { searchOf } from '../../pages/components/pager.js';
import { reportOfDays } from '../../usage/daily-report.js';
import { Names } from '../../usage/names.js';
import { problemsOf } from '../api.js';
import { page, type Page, type PageAnswer, type Visit } from '../page.js';
import { arrange, arrangementOf, isByName } from './arrange.js';
import { namedPlot, type NamedPlot } from './plot.js';
import { finderOf } from './search.js';
import { UsageView, type UsageQuery, type UsageReport } from './view.js';

const REPORT = 'GET /admin/v1/usage';
/** Most rows that a page sorts; the rest are only in the CSV file. */
const MAX_ROWS = 10_000;

/** Usage and the amounts owed for it. */
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
    return { content: <UsageView {...parts} report={await reportOf(visit, query, search)} problems={[]} /> };
  } catch (error) {
    return { status: 400, content: <UsageView {...parts} report={null} problems={problemsOf(error)} /> };
  }
}

/** Makes the report of the days in memory; reads the ledger if some are not there. */
async function reportOf(visit: Visit, query: UsageQuery, search: string | undefined): Promise<UsageReport> {
  const { parts, daily, api } = visit;
  const { range, nowMs } = await reportRange(parts, readQuery(searchOf(query), ofReport));
  const isShown = await finderOf(parts.registry, search);
  const arrangement = arrangementOf(visit.query);
  const days = await daily.days(range, nowMs);
  if (days === null) {
    const answer = await api.answer(REPORT, { query: { ...query, days: 'true', format: 'json' } });
    const report = await readReport(chunksOf(answer), MAX_ROWS);
    const plot: NamedPlot = { by: 'plan', days: report.days ?? [] };
    return { ...report, openFrom: range.openFrom, plot, shown: arrange(report.rows.filter(isShown), arrangement) };
  }
  const report = await reportOfDays(range, days, parts.engine, MAX_ROWS, isShown);
  const names = new Names(parts.engine);
  const rows = isByName(arrangement) ? await names.added(report.rows) : report.rows;
  const shown = arrange(rows, arrangement);
  const [plot, shownRows] = await Promise.all([namedPlot(report.plot, names), names.added(shown.rows)]);
  return { ...report, openFrom: range.openFrom, plot, shown: { ...shown, rows: shownRows } };
}

async function download({ api, ...visit }: Visit, format: 'csv' | 'json'): Promise<PageAnswer> {
  const query = queryOf(visit);
  const answer = await api.answer(REPORT, { query: { ...query, format } });
  const type = format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/json';
  const headers = { 'Content-Disposition': `attachment; filename="${nameOf(query)}.${format}"` };
  return { type, chunks: chunksOf(answer), headers };
}

/** Returns a file name, such as `usage-2026-10-customer` for a whole month. */
function nameOf({ from, to, by }: UsageQuery): string {
  const isMonth = from.endsWith('-01') && to === lastDayOf(from.slice(0, 7));
  const range = isMonth ? from.slice(0, 7) : `${from}-${to}`;
  return `usage-${range}-${by}`.replace(/[^\w-]/g, '-');
}

function chunksOf(answer: Answer): AsyncIterable<string | Buffer> {
  if (answer !== undefined && 'chunks' in answer) return answer.chunks;
  throw new AdminRefusal(503, 'busy', 'There is no report now. Try again.');
}

/** Defaults to this month, by customer. */
function queryOf({ query, nowMs }: Pick<Visit, 'query' | 'nowMs'>): UsageQuery {
  const month = dayOf(nowMs).slice(0, 7);
  const [from, to] = [query.given('from') ?? `${month}-01`, query.given('to') ?? lastDayOf(month)];
  const by = query.given('by') ?? 'customer';
  return { from, to, by, customer: query.given('customer'), key: query.given('key') };
}
