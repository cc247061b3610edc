import { Command } from 'commander';
import { listIn } from '../client.js';
import type { Connect, Json } from '../client.js';
import { CommandError } from '../command-error.js';
import { cell, keyValues, say, sayJson, table } from '../output.js';
import { given, pathOf } from './fields.js';

export function bansCommand(connect: Connect): Command {
  const bans = new Command('bans').description('see, start and lift bans of keys').addHelpText('after', EXAMPLES);
  bans
    .command('list')
    .description(
      'list the bans of keys in force; those of addresses without a key end by themselves and are not listed',
    )
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: true }) => {
      const found = await (await connect()).askAll('/admin/v1/bans', new URLSearchParams(), 'bans');
      if (json === true) sayJson({ bans: found });
      else say(found.length === 0 ? 'No bans.' : banTable(found));
    });
  bans
    .command('start [id]')
    .description('ban a key from now on, or all keys that a customer has now')
    .option('--customer <id>', 'every key of this customer that is not revoked')
    .requiredOption('--for <duration>', 'such as 10m, 1h, 7d')
    .option('--reason <text>', "kept with the ban and in the key's history")
    .option('--json', 'print JSON')
    .action(async (id: string | undefined, { for: length, reason, customer, json }: StartOptions) => {
      const path = bansPathOf(id, customer);
      const started = await (await connect()).ask('PUT', path, given({ for: length, reason }));
      if (json === true) sayJson(started);
      else if (customer === undefined)
        say(keyValues(Object.entries(started).map(([name, value]) => [name, cell(value)])));
      else {
        const all = listIn(started, 'bans');
        say(all.length === 0 ? `Customer ${customer} has no keys to ban.` : banTable(all));
      }
    });
  bans
    .command('lift [id]')
    .description('end a ban, and forget what led to it')
    .option('--customer <id>', 'of every key of this customer')
    .action(async (id: string | undefined, { customer }: { customer?: string }) => {
      await (await connect()).ask('DELETE', bansPathOf(id, customer));
      say(id === undefined ? `The bans of customer ${customer ?? ''} are lifted.` : `The ban of key ${id} is lifted.`);
    });
  return bans;
}

interface StartOptions {
  readonly for: string;
  readonly reason?: string;
  readonly customer?: string;
  readonly json?: true;
}

/** The ban of a key, or those of all keys of a customer: one of the two has to be said. */
function bansPathOf(id: string | undefined, customer: string | undefined): string {
  if ((id === undefined) === (customer === undefined))
    throw new CommandError('Give either the id of a key or --customer with the id of a customer.', 2);
  return id === undefined ? `${pathOf(customer!, 'customers')}/bans` : pathOf(id, 'bans');
}

function banTable(bans: readonly Json[]): string {
  return table(
    ['key', 'until', 'level', 'by', 'reason'],
    bans.map(({ key, until, level, by, reason }) => [cell(key), cell(until), Number(level), cell(by), cell(reason)]),
  );
}

const EXAMPLES = `
Examples:
  petgate bans list
  petgate bans start 3hT9sQ0aZk1B --for 1h --reason "runs in a loop"
  petgate bans start --customer 8hK2mQ0z --for 1h
  petgate bans lift 3hT9sQ0aZk1B`;
