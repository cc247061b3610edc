import { Command, Option } from 'commander';
import { listIn } from './client.js';
import type { Connect, Json } from './client.js';
import { pathOf } from './keys.js';
import { cell, say, sayJson, styled, table } from './output.js';

interface UsageOptions {
  readonly from?: string;
  readonly to?: string;
  readonly by: string;
  readonly key?: string;
  readonly format: 'table' | 'json' | 'csv';
  readonly json?: true;
}

const COUNTS = ['requests', 'limited', 'banned', 'failed'];

export function usageCommand(connect: Connect): Command {
  return new Command('usage').description('report usage from the ledger')
    .option('--from <day>', 'first UTC day, such as 2026-11-01 (the first of the month unless said)')
    .option('--to <day>', 'last UTC day (today unless said)')
    .option('--by <dimensions>', 'plan, key, operation, day; several with commas', 'plan')
    .option('--key <id>', 'of this key only')
    .addOption(new Option('--format <format>', 'how to print it').choices(['table', 'json', 'csv']).default('table'))
    .option('--json', 'the same as --format json')
    .addHelpText('after', EXAMPLES)
    .action(async ({ format, json, ...asked }: UsageOptions) => {
      if (asked.key !== undefined) pathOf(asked.key);
      const query = new URLSearchParams({ ...asked });
      const client = await connect();
      if (json !== true && format === 'csv') return client.pour(`/admin/v1/usage?${query.toString()}&format=csv`);
      const report = await client.ask('GET', `/admin/v1/usage?${query.toString()}`);
      if (json === true || format === 'json') sayJson(report);
      else showReport(report, asked.by.split(','));
    });
}

function showReport(report: Json, by: readonly string[]): void {
  const rows = listIn(report, 'rows').map((row) => rowOf(by.map((dimension) => cell(row[dimension])), row));
  const totals = rowOf(by.map((_, index) => (index === 0 ? 'total' : '')), report['totals'] as Json);
  say(`Usage from ${cell(report['from'])} to ${cell(report['to'])} (UTC)${report['final'] === true ? '' : styled('dim', ', still growing')}\n`);
  say(table([...by, ...COUNTS], [...rows, totals]));
}

function rowOf(labels: readonly string[], counts: Json): readonly (string | number)[] {
  return [...labels, ...COUNTS.map((count) => Number(counts[count]))];
}

const EXAMPLES = `
Examples:
  petgate usage
  petgate usage --from 2026-11-01 --to 2026-11-30 --by key,day --format csv > november.csv`;
