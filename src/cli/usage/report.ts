import { Command, Option } from 'commander';
import { listIn, type Json, type Connect } from '../client.js';
import { segment } from '../rest/command.js';
import { cell, say, styled } from '../output.js';
import { rowsOf } from '../rest/show.js';
import { missingIn } from './gateways.js';

interface ReportOptions {
  readonly from?: string;
  readonly to?: string;
  readonly by: string;
  readonly key?: string;
  readonly customer?: string;
  readonly format: 'table' | 'csv' | 'json' | 'html';
  readonly json?: true;
}

const COUNTS = ['requests', 'units', 'limited', 'banned', 'failed'];

export function reportCommand(connect: Connect): Command {
  return new Command('report')
    .description('report usage from the ledger')
    .option('--from <day>', 'first UTC day, such as 2026-11-01 (the first of the month unless said)')
    .option('--to <day>', 'last UTC day (today unless said)')
    .option('--by <dimensions>', 'plan, customer, key, operation, day; several with commas', 'plan')
    .option('--key <id>', 'of this key only')
    .option('--customer <id-or-reference>', 'of the keys of this customer only')
    .addOption(
      new Option('--format <format>', 'how to print it').choices(['table', 'csv', 'json', 'html']).default('table'),
    )
    .option('--json', 'the same as --format json')
    .addHelpText('after', EXAMPLES)
    .action(async ({ format, json, ...asked }: ReportOptions) => {
      for (const id of [asked.key, asked.customer]) if (id !== undefined) segment(id);
      const query = new URLSearchParams({ ...asked });
      const client = await connect();
      // All but the table goes through as it comes: it may be larger than memory.
      if (json === true || format !== 'table')
        return client.pour(`/admin/v1/usage?${query.toString()}&format=${json === true ? 'json' : format}`);
      showReport(await client.ask('GET', `/admin/v1/usage?${query.toString()}`), asked.by.split(',').flatMap(labelsOf));
    });
}

/** Beside a customer stands its reference. */
function labelsOf(dimension: string): readonly string[] {
  return dimension === 'customer' ? ['customer', 'reference'] : [dimension];
}

function showReport(report: Json, by: readonly string[]): void {
  const columns = [...by, ...COUNTS, ...(by.includes('day') ? [['final', finalIn] as const] : [])];
  const labels = by.map((label, index) => [label, index === 0 ? 'total' : ' ']);
  const totals = { ...(report['totals'] as Json), ...Object.fromEntries(labels) } as Json;
  const growing = report['final'] === true ? ', final' : styled('dim', ', still growing');
  say(`Usage from ${cell(report['from'])} to ${cell(report['to'])} (UTC)${growing}\n`);
  say(rowsOf(columns, [...listIn(report, 'rows'), totals]));
  for (const line of missingIn(report)) say(line);
}

/** Of the totals nothing. */
function finalIn({ final, without }: Json): string {
  if (final === undefined) return ' ';
  return final !== true ? 'no' : without === undefined ? 'yes' : `without ${cell(without)}`;
}

const EXAMPLES = `
Columns: the dimensions asked for, then requests (admitted), units (what these cost), limited and banned
(refused, free), failed (of the requests, those that ended in a 5xx), and with day whether that day is final,
or final without the counts of a gateway.
Examples:
  petgate usage report
  petgate usage report --from 2026-11-01 --to 2026-11-30 --by key,day --format csv > november.csv
  petgate usage report --by customer --format csv > customers.csv
  petgate usage report --customer C-1042 --by key,day
  petgate usage report --format html > november.html`;
