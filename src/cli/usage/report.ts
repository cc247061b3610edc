import { Command, Option } from 'commander';
import { listIn, type Json, type Connect } from '../admin/admin-client.js';
import { CommandError } from '../terminal/command-error.js';
import type { Dimension } from '../../gateway/usage/grouping/range.js';
import { segment } from '../actions/segment.js';
import { say, styled } from '../terminal/output.js';
import { cell } from '../../shared/text/readable.js';
import { rowsOf } from '../actions/print.js';
import { inCurrency } from '../../shared/currency.js';
import { isDay } from '../../shared/utc-day.js';
import { lastDayOf } from '../../shared/utc-month.js';

interface ReportOptions {
  readonly from?: string;
  readonly to?: string;
  readonly month?: string;
  readonly by: string;
  readonly key?: string;
  readonly customer?: string;
  readonly format: 'table' | 'csv' | 'json';
  readonly json?: true;
}

export function reportCommand(connect: Connect): Command {
  return new Command('report')
    .description('report usage from the ledger')
    .option('--from <day>', 'first UTC day, such as 2026-11-01 (default: the first of the month)')
    .option('--to <day>', 'last UTC day (default: today)')
    .option('--month <month>', 'a whole UTC month, such as 2026-11, instead of --from and --to')
    .option('--by <dimensions>', 'plan, customer, key, operation, day; separated by commas', 'plan')
    .option('--key <id>', 'only this key')
    .option('--customer <id-or-reference>', 'only the keys of this customer')
    .addOption(new Option('--format <format>', 'how to print it').choices(['table', 'csv', 'json']).default('table'))
    .option('--json', 'the same as --format json')
    .addHelpText('after', EXAMPLES)
    .action(async ({ format, json, month, ...asked }: ReportOptions) => {
      for (const id of [asked.key, asked.customer]) if (id !== undefined) segment(id);
      const query = new URLSearchParams({ ...asked, ...(month === undefined ? {} : daysOf(month, asked)) });
      const client = await connect();
      // CSV and JSON are streamed: they may be larger than memory.
      if (json === true || format !== 'table')
        return client.pour(`/admin/v1/usage?${query.toString()}&format=${json === true ? 'json' : format}`);
      await showReport(await client.ask('GET', `/admin/v1/usage?${query.toString()}`), asked.by.split(','));
    });
}

/** Returns the first and the last day of a month. */
function daysOf(month: string, { from, to }: Pick<ReportOptions, 'from' | 'to'>): { from: string; to: string } {
  if (from !== undefined || to !== undefined) throw new CommandError('Give either --month or --from and --to.', 2);
  if (!isDay(`${month}-01`)) throw new CommandError('--month must be a month such as 2026-11.', 2);
  return { from: `${month}-01`, to: lastDayOf(month) };
}

async function showReport(report: Json, by: readonly string[]): Promise<void> {
  const { CORRECTED, COUNTS } = await import('../../gateway/store/records/counts.js');
  const { labelsOf } = await import('../../gateway/usage/grouping/range.js');
  const names = labelsOf({ by: by as readonly Dimension[] });
  const money = 'amounts' in (report['totals'] as Json) ? MONEY : [];
  const corrected = 'correctedUnits' in (report['totals'] as Json) ? CORRECTED : [];
  const final = by.includes('day') ? [['final', finalIn] as const] : [];
  const columns = [...names, ...COUNTS, ...corrected, ...money, ...final];
  const labels = names.map((label, index) => [label, index === 0 ? 'total' : ' ']);
  const totals = { ...(report['totals'] as Json), ...Object.fromEntries(labels) } as Json;
  const growing = report['final'] === true ? ', final' : styled('dim', ', still growing');
  say(`Usage from ${cell(report['from'])} to ${cell(report['to'])} (UTC)${growing}\n`);
  say(rowsOf(columns, [...listIn(report, 'rows'), totals]));
  const { missingText } = await import('../../gateway/usage/finality-text.js');
  for (const text of missingText(report)) say(styled('red', `\n${text}`));
}

/** Formats amounts for people; if an amount is unknown, why. */
const MONEY = [
  ...(['base', 'included', 'overage', 'amount'] as const).map((name) => {
    const figureOf = (row: Json): unknown => {
      const figure = row[name];
      if (typeof figure !== 'number' && typeof figure !== 'string') return name === 'amount' ? row['unknown'] : ' ';
      return name === 'base' || name === 'amount' ? inCurrency(figure, cell(row['currency'])) : figure;
    };
    return [name, figureOf] as const;
  }),
  ['currency', ({ currency }: Json) => currency || ' '] as const,
];

/** Empty for the totals. */
function finalIn({ final, without }: Json): string {
  if (final === undefined) return ' ';
  return final !== true ? 'no' : without === undefined ? 'yes' : `without ${cell(without)}`;
}

const EXAMPLES = `
Columns: the dimensions, with the name of a key or customer next to its id; requests (admitted), units (their cost,
or held for it), returned (held units that came back), limited and banned (refused, free), failed (requests that ended
in a 5xx). By day also whether the day is final, or final without the counts of a gateway. For a whole month by
customer also what is owed, if plans have prices: base, units included in it, overage (units beyond), amount.
Examples:
  petgate usage report
  petgate usage report --month 2026-11 --by key,day --format csv > november.csv
  petgate usage report --month 2026-11 --by customer
  petgate usage report --customer C-1042 --by key,day`;
