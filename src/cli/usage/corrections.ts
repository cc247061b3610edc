import { Command } from 'commander';
import type { Connect, Json } from '../client.js';
import { CommandError } from '../command-error.js';
import { cell, say, sayJson } from '../output.js';
import { commandsOf, segment, type Rows } from '../rest/command.js';
import { dayIn, pages } from '../rest/show.js';

interface CorrectOptions {
  readonly key?: string;
  readonly customer?: string;
  readonly day: string;
  readonly units?: string;
  readonly requests?: string;
  readonly reason: string;
  readonly plan?: string;
  readonly id?: string;
  readonly json?: true;
}

const COLUMNS = ['id', 'customer', 'key', 'day', 'plan', 'requests', 'units', 'reason', 'by', dayIn('at')];

const ROWS: Rows = {
  corrections: [
    'list corrections of usage, of all days, or of some',
    'GET usage/corrections',
    pages('corrections', COLUMNS, () => 'No corrections.'),
    'from to customer limit',
  ],
};

export function correctionCommands(connect: Connect): readonly Command[] {
  return [correctCommand(connect), ...commandsOf(connect, ROWS)];
}

function correctCommand(connect: Connect): Command {
  return new Command('correct')
    .description('add to the usage of a day, or subtract from it; the counted figures stay unchanged')
    .option('--key <id>', 'correct the usage of this key')
    .option('--customer <id-or-reference>', 'or this customer')
    .requiredOption('--day <day>', 'the UTC day, which may be final, or in the archive')
    .option('--units <count>', 'units to add; negative to subtract')
    .option('--requests <count>', 'the same of requests')
    .requiredOption('--reason <text>', 'why, for anyone who reads the report')
    .option('--plan <plan>', 'the plan to bill it on (default: the plan at the end of that day)')
    .option('--id <id>', 'taken once, however often it is sent (random unless said)')
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLES)
    .action(async ({ json, units, requests, ...asked }: CorrectOptions) => {
      if (asked.key !== undefined) segment(asked.key);
      const body: Json = { ...asked, ...countIn('units', units), ...countIn('requests', requests) };
      const made = await (await connect()).ask('POST', '/admin/v1/usage/corrections', body);
      if (json === true) {
        sayJson(made);
        return;
      }
      const whose = made['key'] === null ? `customer ${cell(made['customer'])}` : `key ${cell(made['key'])}`;
      say(
        `Correction ${cell(made['id'])} of ${whose} on ${cell(made['day'])}, plan ${cell(made['plan'])}: ` +
          `${signed(made['units'])} units, ${signed(made['requests'])} requests.`,
      );
    });
}

function countIn(name: string, text: string | undefined): Json {
  if (text === undefined) return {};
  if (!/^[+-]?\d{1,13}$/.test(text)) throw new CommandError(`--${name} must be a whole number such as -120.`, 2);
  return { [name]: Number(text) };
}

function signed(count: unknown): string {
  return Number(count) > 0 ? `+${String(count)}` : String(count);
}

const EXAMPLES = `
Examples:
  petgate usage correct --customer C-1042 --day 2026-11-03 --units -250 --reason "outage of 3 November"
  petgate usage correct --key 5BkxuKZHANEf --day 2026-11-03 --units 40 --requests 40 --reason "sent by mail" --id M-17
  petgate usage corrections --customer C-1042`;
