import type { Command } from 'commander';
import { listIn } from '../client.js';
import type { Connect, Json } from '../client.js';
import { CommandError } from '../command-error.js';
import { cell, keyValues, say, sayJson, table } from '../output.js';
import { given, limitsOf, pathOf } from './fields.js';
import type { LimitOptions } from './fields.js';

interface GrantOptions extends LimitOptions {
  readonly until: string;
  readonly note?: string;
  readonly json?: true;
}

/** `grant`, `grants` and `withdraw`, of keys and of customers alike. */
export function grantCommands(command: Command, connect: Connect, collection: 'keys' | 'customers'): void {
  const whose = collection === 'keys' ? 'a key' : 'a customer';
  command
    .command('grant <id>')
    .description(`give ${whose} more of one window for a while, on top of its limit`)
    .option('--minute <units>', 'so many more per minute')
    .option('--day <units>', 'the same per day')
    .option('--month <units>', 'the same per calendar month')
    .requiredOption('--until <date>', '2027-01-31 or 2027-01-31T12:00:00Z; it ends then by itself')
    .option('--note <text>', 'why; kept with the grant and in the history')
    .option('--json', 'print JSON')
    .action(async (id: string, { until, note, json, ...windows }: GrantOptions) => {
      const grant = given({ ...windowOf(windows), until, note });
      const made = await (await connect()).ask('POST', `${pathOf(id, collection)}/grants`, grant);
      if (json === true) sayJson(made);
      else say(grantTable([made]));
    });
  command
    .command('grants <id>')
    .description(`list the grants of ${whose} that are in force`)
    .option('--json', 'print JSON')
    .action(async (id: string, { json }: { json?: true }) => {
      const answer = await (await connect()).ask('GET', `${pathOf(id, collection)}/grants`);
      const grants = listIn(answer, 'grants');
      if (json === true) sayJson(answer);
      else say(grants.length === 0 ? 'No grants in force.' : grantTable(grants));
    });
  command
    .command('withdraw <id> <grant>')
    .description(`end a grant of ${whose} now, by its number`)
    .action(async (id: string, grant: string) => {
      await (await connect()).ask('DELETE', `${pathOf(id, collection)}/grants/${encodeURIComponent(grant)}`);
      say(`Grant ${grant} has ended.`);
    });
}

/** The one window that was given. */
function windowOf(windows: LimitOptions): Json {
  const [window, ...others] = Object.entries(limitsOf(windows) ?? {});
  if (window === undefined || others.length > 0)
    throw new CommandError(
      'Give one of --minute, --day and --month: a grant is of one window, but there may be several.',
      2,
    );
  return { window: window[0], units: window[1] };
}

function grantTable(grants: readonly Json[]): string {
  return table(
    ['grant', 'window', 'units', 'until', 'by', 'note'],
    grants.map(({ id, window, units, until, by, note }) => [
      ...[id, window].map(cell),
      Number(units),
      ...[until, by, note].map(cell),
    ]),
  );
}

/** `+500 a day until 2027-01-31T00:00:00.000Z`, for each of them. */
function grantsCell(grants: unknown): string {
  const texts = (grants as readonly Json[]).map(
    ({ window, units, until }) => `+${cell(units)} a ${cell(window)} until ${cell(until)}`,
  );
  return cell(texts.join(', '));
}

/** A key or a customer, a field a line. */
export function recordTable(record: Json): string {
  return keyValues(
    Object.entries(record).map(([name, value]) => [name, name === 'grants' ? grantsCell(value) : cell(value)]),
  );
}
