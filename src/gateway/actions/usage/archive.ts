import { text } from 'node:stream/consumers';
import type { ArchiveTask } from '../../usage/tasks/task.js';
import type { Access } from '../access/roles.js';
import { AdminRefusal } from '../answer.js';
import { checkOrder, days } from '../input/query.js';
import { ArchiveStatus } from '../schemas.js';
import { action, type AdminParts, type Action } from '../action.js';
import { cell } from '../../../shared/text/readable.js';
import type { Json } from '../command.js';

const ARCHIVE = '/admin/v1/usage/archive';
const LINES = 'application/x-ndjson';

export const ARCHIVE_ACTIONS: readonly Action[] = [
  action(`GET ${ARCHIVE}`, 'billing', 'Show which days of the ledger are in the archive, and which wait', {
    commands: { usage: 'usage archive status', example: '', prints: { text: statusText } },
    gives: ArchiveStatus,
    handle: async ({ parts }) => ({ json: JSON.parse(await text(linesOf(parts, { kind: 'status' }))) as object }),
  }),
  task('POST', 'move', 'operator', 'Move the days that are due now, as the gateway does once a day', (line) => {
    return `${cell(line['moved'])} days moved, ${cell(line['rows'])} rows; ${waitingText(line)}`;
  }),
  task(
    'POST',
    'accept',
    'operator',
    'Accept that days are lost that the archive had: bills are too small by what is named',
    (line) => `${cell(line['day'])}  lost: ${lossText(line)}`,
    'The archive lacks nothing.',
  ),
  task(
    'GET',
    'verify',
    'billing',
    'Read archived days completely and compare them with their checksums',
    ({ ok, day, rows, problem }) =>
      `${cell(day)}  ${ok === true ? `${cell(rows)} rows, as they were written` : cell(problem)}`,
  ),
  task(
    'POST',
    'restore',
    'operator',
    'Bring archived days back into the store; nothing is moved for a day then',
    ({ day, rows }) => `${cell(day)}  ${cell(rows)} rows are back in the store`,
  ),
];

/** Runs a task of the archive, on chosen days if it may. @param lines what the command line says of each line */
function task(
  method: string,
  kind: Exclude<ArchiveTask['kind'], 'status'>,
  role: Access,
  summary: string,
  lines: (line: Json) => string,
  none = 'The archive has none of these days.',
): Action {
  const isOfDays = kind === 'verify' || kind === 'restore';
  const example = isOfDays ? '--from 2026-01-01 --to 2026-01-31' : '';
  return action(`${method} ${ARCHIVE}/${kind}`, role, summary, {
    commands: { usage: `usage archive ${kind}`, example, prints: { lines, none } },
    ...(isOfDays && { query: days }),
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

function statusText(status: Json): string {
  const { days, first, last, dueBefore, pausedUntil } = status;
  const lacking = status['lacking'] as readonly Json[];
  return [
    `Archive: ${Number(days) === 0 ? 'no days yet' : `${cell(days)} days, ${cell(first)} to ${cell(last)}`}`,
    `Days before ${cell(dueBefore)} (UTC) belong there: ${waitingText(status)}.`,
    ...(lacking.length === 0
      ? []
      : [
          'It lacks days that it had; reports of them are refused:',
          ...lacking.map((line) => `  ${cell(line['day'])}  ${lossText(line)}`),
          'Bring them back from a newer backup of PostgreSQL, or accept the loss: petgate usage archive accept.',
        ]),
    ...(pausedUntil === null ? [] : [`Days were brought back: nothing is moved until ${cell(pausedUntil)}.`]),
  ].join('\n');
}

function lossText({ lost }: Json): string {
  if (lost === null) return 'nobody knows how much';
  const counts = Object.entries(lost as Readonly<Record<string, number>>).filter(([, count]) => count > 0);
  return counts.length === 0 ? 'nothing was counted' : counts.map(([name, count]) => `${count} ${name}`).join(', ');
}

function waitingText({ waiting }: Json): string {
  const days = waiting as readonly string[];
  return days.length === 0 ? 'none waits' : `${days.length} wait, ${days[0]!} first`;
}
