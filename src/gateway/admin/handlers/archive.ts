import { text } from 'node:stream/consumers';
import type { ArchiveTask } from '../../usage/task.js';
import { AdminRefusal } from '../answer.js';
import { checkOrder, days } from '../input/query.js';
import { ArchiveStatus } from '../openapi/schemas.js';
import { handler } from '../route.js';
import type { AdminParts } from '../route.js';

const LINES = 'application/x-ndjson';

export const status = handler({
  browser: true,
  gives: ArchiveStatus,
  handle: async ({ parts }) => ({ json: JSON.parse(await text(linesOf(parts, { kind: 'status' }))) as object }),
});

export const move = handler({
  gives: [LINES],
  handle: ({ parts }) => ({ type: LINES, chunks: linesOf(parts, { kind: 'move' }) }),
});

export const verify = ofDays('verify');
export const restore = ofDays('restore');

function ofDays(kind: ArchiveTask['kind']) {
  return handler({
    query: days,
    gives: [LINES],
    handle: ({ parts, query }) => {
      checkOrder(query);
      return { type: LINES, chunks: linesOf(parts, { kind, ...query }) };
    },
  });
}

function linesOf({ archive }: AdminParts, task: Omit<ArchiveTask, 'settings'>): AsyncGenerator<Buffer, void> {
  if (archive === undefined)
    throw new AdminRefusal(
      404,
      'no_archive',
      'There is no archive: set LEDGER_URL (only with Redis: the embedded store keeps its ledger itself).',
    );
  return archive(task);
}
