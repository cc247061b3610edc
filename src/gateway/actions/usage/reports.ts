import { pricesOf } from '../../admission/plan.js';
import type { Checked } from '../../accounts/fields.js';
import { DAY_MS, dayOf } from '../../../shared/utc-day.js';
import { MAX_DAYS, viewOf, type ReportRange } from '../../usage/grouping/range.js';
import { finalityText } from '../../usage/finality-text.js';
import { writeReport, type Format } from '../../usage/report-text.js';
import { AdminRefusal, type Headers } from '../answer.js';
import { pricesFor } from '../input/amounts.js';
import { checkOrder, inFormat, invalidQuery, ofReport, whoseOf } from '../input/query.js';
import { Finality } from '../schemas.js';
import { action, type AdminParts, type Action } from '../action.js';

type ReportQuery = Checked<typeof ofReport>;
type PublicFormat = Exclude<Format, 'rows'>;

const TYPES: Readonly<Record<PublicFormat, string>> = {
  json: 'application/json',
  csv: 'text/csv; charset=utf-8; header=present',
};
/** Younger days are never archived (`store.archive_after`). */
const STORED_DAYS = 31;
/** Maximum concurrent reports over all keys. Those that may wait for the archive get one less, so that others run. */
const MAX_AT_ONCE = 4;

const USAGE = '/admin/v1/usage';

export const USAGE_ACTIONS: readonly Action[] = [
  action(`GET ${USAGE}`, 'billing', 'Report usage from the ledger', {
    query: { ...ofReport, ...inFormat },
    gives: ['application/json', 'text/csv'],
    handle: async ({ parts, query: { format, ...query } }) => {
      const { range, nowMs } = await reportRange(parts, query);
      return { type: TYPES[format], headers: headersOf(format, range), chunks: reportOf(parts, format, range, nowMs) };
    },
  }),
  action(
    `GET ${USAGE}/gateways`,
    'billing',
    'Show which gateways keep days from being final, and which were not waited for',
    {
      commands: { usage: 'usage gateways', example: '', prints: { text: finalityText } },
      gives: Finality,
      handle: async ({ parts }) => {
        const { openFrom, waitingFor, without } = await parts.engine.days.finality(await parts.registry.nowMs());
        return { json: { openFrom, waitingFor: waitingFor.map(viewOf), without: without.map(viewOf) } };
      },
    },
  ),
  action(
    `DELETE ${USAGE}/gateways/{id}`,
    'operator',
    'Wait no longer for the counts of a gateway that will not come back',
    {
      commands: {
        usage: 'usage give-up <id>',
        example: 'gateway-2.example',
        prints: { done: 'Gateway {id} is not waited for any more.' },
        help: 'Its days become final, marked as without it. If it does come back, its counts are still added.',
      },
      handle: async ({ parts, id }) => {
        if (await parts.engine.days.giveUp(id)) return undefined;
        const message = 'No gateway with this id keeps a day open. petgate usage gateways lists those that do.';
        throw new AdminRefusal(404, 'gateway_not_found', message);
      },
    },
  ),
];

/** Returns what a query asks for, and the store's time. */
export async function reportRange(parts: AdminParts, query: ReportQuery) {
  const nowMs = await parts.registry.nowMs();
  const whose = await whoseOf(parts, query);
  const asked = { ...rangeOf(query, nowMs), ...whose };
  const prices = pricesFor(asked, pricesOf(parts.registry.plans()), query.amounts);
  const range: ReportRange = {
    ...asked,
    ...(prices === undefined ? {} : { prices }),
    names: query.names !== 'false',
    ...(query.corrections === 'false' ? { corrections: false } : {}),
    ...(query.days === 'true' ? { days: true } : {}),
    ...(await parts.engine.days.finality(nowMs)),
  };
  return { range, nowMs };
}

/** Creates a report in another process, except for one key whose days are certainly in the store. */
export function reportOf(
  { report: made, engine }: AdminParts,
  format: Format,
  range: ReportRange,
  nowMs: number,
): AsyncIterable<string | Buffer> {
  const { from, key } = range;
  const mayWait = made !== undefined && mayBeArchived(from, nowMs);
  if (made !== undefined && (key === undefined || mayWait)) return limited(made(format, range), mayWait);
  const written = writeReport(format, range, engine.usage, engine);
  return key === undefined ? limited(written, mayWait) : written;
}

export function mayBeArchived(from: string, nowMs: number): boolean {
  return from < dayOf(nowMs - STORED_DAYS * DAY_MS);
}

function headersOf(format: PublicFormat, { from, to }: ReportRange): Headers {
  return format === 'csv' ? { 'Content-Disposition': `attachment; filename="usage-${from}-${to}.csv"` } : {};
}

const running = { all: 0, mayWait: 0 };

/**
 * Limits concurrent reports and rehearsals, because each takes memory and a CPU. Throws AdminRefusal 503.
 * @param mayWait whether it may wait for the archive
 */
export async function* limited<Piece>(
  report: AsyncGenerator<Piece, void>,
  mayWait: boolean,
): AsyncGenerator<Piece, void> {
  const [count, max, what] =
    mayWait && running.mayWait >= MAX_AT_ONCE - 1
      ? [running.mayWait, MAX_AT_ONCE - 1, 'reports on days that may be in the archive']
      : [running.all, MAX_AT_ONCE, 'reports'];
  if (count >= max) {
    const message = `${max} ${what} are already being created. Wait for one to finish, then try again.`;
    throw new AdminRefusal(503, 'busy', message, { 'Retry-After': '5' });
  }
  running.all += 1;
  running.mayWait += mayWait ? 1 : 0;
  try {
    yield* report;
  } finally {
    running.all -= 1;
    running.mayWait -= mayWait ? 1 : 0;
  }
}

/** Returns the requested days. Default: from the first of the month to today. */
function rangeOf(query: ReportQuery, nowMs: number): Pick<ReportRange, 'from' | 'to' | 'by'> {
  const { to = dayOf(nowMs), from = `${to.slice(0, 8)}01`, by } = query;
  checkOrder({ from, to });
  if (Date.parse(to) - Date.parse(from) >= MAX_DAYS * DAY_MS)
    throw invalidQuery(`from and to must span at most ${MAX_DAYS} days.`);
  return { from, to, by };
}
