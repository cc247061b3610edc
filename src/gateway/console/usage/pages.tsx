import { AdminRefusal, type Answer } from '../../admin/answer.js';
import { readReport, type ReadReport } from '../../usage/read-report.js';
import { problemsOf } from '../api.js';
import { page, type Page, type PageAnswer, type Visit } from '../page.js';
import { UsageView, type UsageQuery } from './view.js';

const REPORT = 'GET /admin/v1/usage';
/** More rows are left to CSV: nobody reads them on a page. */
const MAX_ROWS = 1_000;

/** What was used, and what is owed for it. */
export const USAGE_PAGES: readonly Page[] = [
  page('GET /usage', REPORT, 'Usage', { menu: 'Usage', serve: shown }),
  page('GET /usage/report.csv', REPORT, 'Usage as CSV', { serve: (visit) => download(visit, 'csv') }),
  page('GET /usage/report.json', REPORT, 'Usage as JSON', { serve: (visit) => download(visit, 'json') }),
];

async function shown(visit: Visit): Promise<PageAnswer> {
  const query = queryOf(visit);
  try {
    const report = await read(visit, query);
    const perDay = await read(visit, { ...query, by: 'day,plan' });
    return { content: <UsageView query={query} report={report} perDay={perDay} problems={[]} /> };
  } catch (error) {
    const problems = problemsOf(error);
    return { status: 400, content: <UsageView query={query} report={null} perDay={null} problems={problems} /> };
  }
}

async function read({ api }: Visit, query: UsageQuery): Promise<ReadReport> {
  return readReport(chunksOf(await api.answer(REPORT, { query: { ...query, format: 'json' } })), MAX_ROWS);
}

async function download({ api, ...visit }: Visit, format: 'csv' | 'json'): Promise<PageAnswer> {
  const answer = await api.answer(REPORT, { query: { ...queryOf(visit), format } });
  const type = format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/json';
  const headers = { 'Content-Disposition': `attachment; filename="usage.${format}"` };
  return { type, chunks: chunksOf(answer), headers };
}

function chunksOf(answer: Answer): AsyncIterable<string | Buffer> {
  if (answer !== undefined && 'chunks' in answer) return answer.chunks;
  throw new AdminRefusal(503, 'busy', 'There is no report now. Try again.');
}

/** Of this month where nothing is said. */
function queryOf({ query, nowMs }: Pick<Visit, 'query' | 'nowMs'>): UsageQuery {
  const today = new Date(nowMs);
  const month = today.toISOString().slice(0, 7);
  const last = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1, 0)).toISOString().slice(0, 10);
  const [from, to] = [query.given('from') ?? `${month}-01`, query.given('to') ?? last];
  const by = query.given('by') ?? 'customer';
  return { from, to, by, customer: query.given('customer'), key: query.given('key') };
}
