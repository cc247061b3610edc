import { text } from 'node:stream/consumers';
import type { ArchiveTask } from '../../usage/tasks/task.js';
import type { Access } from '../access/roles.js';
import { AdminRefusal } from '../answer.js';
import { checkOrder, days } from '../input/query.js';
import { ArchiveStatus } from '../openapi/schemas.js';
import { route, type AdminParts, type Route } from '../route.js';

const ARCHIVE = '/admin/v1/usage/archive';
const LINES = 'application/x-ndjson';

export const ARCHIVE_ROUTES: readonly Route[] = [
  route(`GET ${ARCHIVE}`, 'billing', 'Which days of the ledger are in the archive, and which wait', {
    gives: ArchiveStatus,
    handle: async ({ parts }) => ({ json: JSON.parse(await text(linesOf(parts, { kind: 'status' }))) as object }),
  }),
  route(`POST ${ARCHIVE}/move`, 'operator', 'Moves the days that are due now, as once a day', {
    gives: [LINES],
    handle: ({ parts }) => ({ type: LINES, chunks: linesOf(parts, { kind: 'move' }) }),
  }),
  route(`POST ${ARCHIVE}/accept`, 'operator', 'Accepts that days are lost that the archive had, a line for each', {
    gives: [LINES],
    handle: ({ parts }) => ({ type: LINES, chunks: linesOf(parts, { kind: 'accept' }) }),
  }),
  ofDays('GET', 'verify', 'billing', 'Reads archived days completely, one line each'),
  ofDays('POST', 'restore', 'operator', 'Brings archived days back, a line for each'),
];

function ofDays(method: string, kind: ArchiveTask['kind'], role: Access, summary: string): Route {
  return route(`${method} ${ARCHIVE}/${kind}`, role, summary, {
    query: days,
    gives: [LINES],
    handle: ({ parts, query }) => {
      checkOrder(query);
      return { type: LINES, chunks: linesOf(parts, { kind, ...query }) };
    },
  });
}

function linesOf({ archive }: AdminParts, task: Omit<ArchiveTask, 'settings'>): AsyncGenerator<Buffer, void> {
  if (archive !== undefined) return archive(task);
  throw new AdminRefusal(
    404,
    'no_archive',
    'There is no archive: set LEDGER_URL (only with Redis: the embedded store keeps its ledger itself).',
  );
}
