import { suggestion } from '../../shared/names/nearest.js';
import { quote } from '../accounts/fields.js';
import { rowsOfCustomer } from '../usage/of-customer.js';
import { DIMENSIONS, MOST_DAYS, viewOf } from '../usage/range.js';
import type { Dimension, ReportRange } from '../usage/range.js';
import { CONTENT_SECURITY_POLICY } from '../usage/style.js';
import { writeReport } from '../usage/write.js';
import type { Format } from '../usage/write.js';
import { AdminRefusal } from './answer.js';
import type { Answer, Headers } from './answer.js';
import { invalidQuery, readChoice, readDay, readReference } from './input/query.js';
import type { Query } from './input/query.js';
import type { Call, Route } from './route.js';
import { DAY_MS, dayOf } from '../../shared/utc-day.js';

export const USAGE_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/admin/v1/usage',
    summary: 'A usage report, streamed',
    role: 'billing',
    query: ['from', 'to', 'by', 'format', 'key', 'customer'],
    browser: true,
    gives: [200, ['application/json', 'text/csv', 'text/html']],
    handle: usage,
  },
  {
    method: 'GET',
    path: '/admin/v1/usage/gateways',
    summary: 'The gateways that keep days from being final',
    role: 'billing',
    browser: true,
    gives: [200, 'Finality'],
    handle: gateways,
  },
  {
    method: 'DELETE',
    path: '/admin/v1/usage/gateways/{id}',
    summary: 'Waits no longer for a gateway',
    role: 'operator',
    gives: [204],
    handle: giveUp,
  },
  {
    method: 'GET',
    path: '/admin/usage',
    summary: 'The usage page for browsers',
    role: 'billing',
    query: ['from', 'to', 'by', 'key', 'customer'],
    browser: true,
    gives: [200, ['text/html']],
    handle: page,
  },
];

const FORMATS: readonly Format[] = ['json', 'csv', 'html'];
const TYPES: Readonly<Record<Format, string>> = {
  json: 'application/json',
  csv: 'text/csv; charset=utf-8; header=present',
  html: 'text/html; charset=utf-8',
};
/** No younger day is ever archived (`store.archive_after`). */
const STORED_DAYS = 31;
/** Reports over all keys. */
const MOST_AT_ONCE = 4;

function usage(call: Call): Promise<Answer> {
  return reported(call, readChoice(call.query, 'format', FORMATS) ?? 'json');
}

function page(call: Call): Promise<Answer> {
  return reported(call, 'html');
}

/** Up to which day all is there, and the gateways that decide it: `{openFrom, waitingFor, without}`. */
async function gateways({ parts }: Call): Promise<Answer> {
  const { openFrom, waitingFor, without } = await parts.engine.days.finality(await parts.registry.nowMs());
  return { json: { openFrom, waitingFor: waitingFor.map(viewOf), without: without.map(viewOf) } };
}

async function giveUp({ parts, id }: Call): Promise<Answer> {
  if (await parts.engine.days.giveUp(id)) return undefined;
  throw new AdminRefusal(
    404,
    'gateway_not_found',
    'No gateway of this id holds a day open. See GET /admin/v1/usage/gateways.',
  );
}

async function reported({ parts, query }: Call, format: Format): Promise<Answer> {
  const nowMs = await parts.registry.nowMs();
  const whose = await readWhose(parts, query);
  const range = { ...readRange(query, nowMs), ...whose, ...(await parts.engine.days.finality(nowMs)) };
  return {
    type: TYPES[format],
    headers: headersOf(format, range),
    chunks: reportOf(parts, format, range, nowMs),
  };
}

/** One that isn't there is a slip, not somebody without traffic. */
async function readWhose(
  { registry }: Call['parts'],
  query: Query,
): Promise<Pick<ReportRange, 'key'> | Pick<ReportRange, 'customer'>> {
  const [key, customer] = [query.get('key'), readReference(query, 'customer')];
  if (key !== undefined && customer !== undefined) throw invalidQuery('Give key or customer, not both.');
  if (key !== undefined) return { key: (await registry.get(key)).id };
  return customer === undefined ? {} : { customer: (await registry.customers.find(customer)).id };
}

/** A report; over Redis and archive in a process of its own. Of one key the days that are certainly in the store are read at once, here. */
export function reportOf(
  { report, engine }: Call['parts'],
  format: Format,
  range: ReportRange,
  nowMs: number,
): AsyncIterable<string | Buffer> {
  const { from, to, key, customer } = range;
  if (report !== undefined && (key === undefined || from < dayOf(nowMs - STORED_DAYS * DAY_MS)))
    return limited(report(format, range));
  // Ids of a customer's keys begin with its own.
  const rows = engine.usage.rows(from, to, key, customer);
  const asked = customer === undefined ? rows : rowsOfCustomer(rows, customer);
  const made = writeReport(format, range, asked, (after, count) => engine.customers.page(after, count));
  return key === undefined ? limited(made) : made;
}

function headersOf(format: Format, { from, to }: ReportRange): Headers {
  switch (format) {
    case 'json':
      return {};
    case 'csv':
      return { 'Content-Disposition': `attachment; filename="usage-${from}-${to}.csv"` };
    case 'html':
      return { 'Content-Security-Policy': CONTENT_SECURITY_POLICY, 'Referrer-Policy': 'no-referrer' };
  }
}

let running = 0;

/** Counts the reports under way, and refuses one too many: each takes memory and a processor. */
async function* limited<Piece>(report: AsyncGenerator<Piece, void>): AsyncGenerator<Piece, void> {
  if (running >= MOST_AT_ONCE)
    throw new AdminRefusal(
      503,
      'busy',
      `${MOST_AT_ONCE} reports are being made already. Wait for one to end, then try again.`,
      { 'Retry-After': '5' },
    );
  running += 1;
  try {
    yield* report;
  } finally {
    running -= 1;
  }
}

/** From the first of this month to today, by plan, where nothing else is said. */
function readRange(query: Query, nowMs: number): Pick<ReportRange, 'from' | 'to' | 'by'> {
  const today = dayOf(nowMs);
  const to = readDay(query, 'to') ?? today;
  const from = readDay(query, 'from') ?? `${to.slice(0, 8)}01`;
  if (from > to) throw invalidQuery('from must not lie after to.');
  if (Date.parse(to) - Date.parse(from) >= MOST_DAYS * DAY_MS)
    throw invalidQuery(`from and to must span at most ${MOST_DAYS} days.`);
  return { from, to, by: readDimensions(query) };
}

function readDimensions(query: Query): readonly Dimension[] {
  const names = (query.get('by') ?? 'plan').split(',');
  const by = names.map((name) => {
    const dimension = DIMENSIONS.find((one) => one === name);
    if (dimension === undefined)
      throw invalidQuery(`by: there is no ${quote(name)}; ${suggestion(name.slice(0, 64), DIMENSIONS)}`);
    return dimension;
  });
  if (new Set(by).size < by.length) throw invalidQuery('by names something twice.');
  return by;
}
