import { Command } from 'commander';
import { linesIn, type Connect, type Json } from '../client.js';
import { CommandError } from '../command-error.js';
import { cell, say, styled } from '../output.js';
import { group, type Rows } from '../rest/command.js';

interface RangeOptions {
  readonly from?: string;
  readonly to?: string;
  readonly json?: true;
}

/** `petgate usage archive …` */
export function archiveCommand(connect: Connect): Command {
  return group(connect, 'archive', 'what became of days of the ledger that are over', ROWS, EXAMPLES)
    .addCommand(
      linesCommand(connect, 'verify', 'read archived days completely and compare them with their checksums', (line) =>
        line['ok'] === true
          ? `${cell(line['day'])}  ${cell(line['rows'])} rows, as they were written`
          : styled('red', `${cell(line['day'])}  ${cell(line['problem'])}`),
      ),
    )
    .addCommand(
      linesCommand(
        connect,
        'restore',
        'bring archived days back into the store, such as to use another archive; nothing is moved for a day then',
        (line) => `${cell(line['day'])}  ${cell(line['rows'])} rows are back in the store`,
      ),
    )
    .addCommand(
      linesCommand(
        connect,
        'accept',
        'accept that days are lost that the archive had, and say what is lost: bills are too small by that',
        (line) => `${cell(line['day'])}  lost: ${lossOf(line)}`,
      ),
    )
    .addCommand(
      linesCommand(
        connect,
        'move',
        'move the days that are due now, as the gateway does once a day',
        (line) => `${cell(line['moved'])} days moved, ${cell(line['rows'])} rows; ${waitingOf(line)}`,
      ),
    );
}

const ROWS: Rows = {
  status: ['show which days are in the archive, and which wait', 'GET usage/archive', { text: statusOf }],
};

function statusOf(status: Json): string {
  const { days, first, last, dueBefore, pausedUntil } = status;
  const lacking = status['lacking'] as readonly Json[];
  return [
    `Archive: ${Number(days) === 0 ? 'no days yet' : `${cell(days)} days, ${cell(first)} to ${cell(last)}`}`,
    `Days before ${cell(dueBefore)} (UTC) belong there: ${waitingOf(status)}.`,
    ...(lacking.length === 0
      ? []
      : [
          styled('red', 'It lacks days that it had; reports of them are refused:'),
          ...lacking.map((line) => `  ${cell(line['day'])}  ${lossOf(line)}`),
          'Bring them back from a newer backup of PostgreSQL, or accept the loss: petgate usage archive accept.',
        ]),
    ...(pausedUntil === null ? [] : [`Days were brought back: nothing is moved until ${cell(pausedUntil)}.`]),
  ].join('\n');
}

function lossOf({ lost }: Json): string {
  if (lost === null) return 'nobody knows how much';
  const counts = Object.entries(lost as Readonly<Record<string, number>>).filter(([, count]) => count > 0);
  return counts.length === 0 ? 'nothing was counted' : counts.map(([name, count]) => `${count} ${name}`).join(', ');
}

function waitingOf(status: Json): string {
  const waiting = status['waiting'] as readonly string[];
  return waiting.length === 0 ? 'none waits' : `${waiting.length} wait, ${waiting[0]} first`;
}

/** A command whose answer has a line for each day; it fails when one of them is not `ok`. */
function linesCommand(
  connect: Connect,
  name: 'verify' | 'restore' | 'move' | 'accept',
  description: string,
  textOf: (line: Json) => string,
): Command {
  const command = new Command(name).description(description).option('--json', 'print lines of JSON');
  if (name === 'verify' || name === 'restore')
    command
      .option('--from <day>', 'first UTC day (the first there is)')
      .option('--to <day>', 'last UTC day (the last)');
  return command.action(async ({ json, ...range }: RangeOptions) => {
    const path = `/admin/v1/usage/archive/${name}?${new URLSearchParams({ ...range }).toString()}`;
    const response = await (await connect()).open(path, name === 'verify' ? 'GET' : 'POST');
    let days = 0;
    let damaged = 0;
    for await (const text of linesIn(response)) {
      const line = JSON.parse(text) as Json;
      days += 1;
      if (line['ok'] === false) damaged += 1;
      if (json === true) process.stdout.write(`${JSON.stringify(line)}\n`);
      else say(textOf(line));
    }
    if (days === 0 && json !== true)
      say(name === 'accept' ? 'The archive lacks nothing.' : 'The archive has none of these days.');
    if (damaged > 0)
      throw new CommandError(`${damaged} days of the archive are damaged. Bring them back from a backup.`);
  });
}

const EXAMPLES = `
Examples:
  petgate usage archive status
  petgate usage archive verify --from 2026-01-01 --to 2026-01-31
  petgate usage archive restore --from 2026-01-01
  petgate usage archive accept`;
