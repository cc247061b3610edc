import { text } from 'node:stream/consumers';
import type { ArchiveTask } from '../../usage/archive/task.js';
import { AdminRefusal } from '../answer.js';
import type { Answer } from '../answer.js';
import { invalidQuery, readDay } from '../input/query.js';
import type { Call, Route } from '../route.js';

const LINES = 'application/x-ndjson';

export const ARCHIVE_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/admin/v1/usage/archive',
    summary: 'Which days of the ledger are in the archive, and which wait',
    role: 'billing',
    browser: true,
    gives: [200, 'ArchiveStatus'],
    handle: async (call) => ({ json: JSON.parse(await text(linesOf(call, 'status'))) as object }),
  },
  {
    method: 'POST',
    path: '/admin/v1/usage/archive/move',
    summary: 'Moves the days that are due now, as it is done by itself once a day',
    role: 'operator',
    gives: [200, [LINES]],
    handle: (call) => streamed(call, 'move'),
  },
  {
    method: 'GET',
    path: '/admin/v1/usage/archive/verify',
    summary: 'Reads archived days to their end, a line of JSON for each',
    role: 'billing',
    query: ['from', 'to'],
    gives: [200, [LINES]],
    handle: (call) => streamed(call, 'verify'),
  },
  {
    method: 'POST',
    path: '/admin/v1/usage/archive/restore',
    summary: 'Brings archived days back into the store, a line of JSON for each',
    role: 'operator',
    query: ['from', 'to'],
    gives: [200, [LINES]],
    handle: (call) => streamed(call, 'restore'),
  },
];

function streamed(call: Call, kind: ArchiveTask['kind']): Answer {
  return { type: LINES, chunks: linesOf(call, kind) };
}

function linesOf({ parts, query }: Call, kind: ArchiveTask['kind']): AsyncGenerator<Buffer, void> {
  const [from, to] = [readDay(query, 'from'), readDay(query, 'to')];
  if (from !== undefined && to !== undefined && from > to) throw invalidQuery('from must not lie after to.');
  if (parts.archive === undefined)
    throw new AdminRefusal(
      404,
      'no_archive',
      'There is no archive: set LEDGER_URL (only with Redis: the embedded store keeps its ledger itself).',
    );
  return parts.archive({ kind, from, to });
}
