import { Command } from 'commander';
import type { Connect } from '../client.js';
import { cell, keyValues, say, sayJson, table } from '../output.js';
import { pathOf } from './command.js';

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
      else
        say(
          found.length === 0
            ? 'No bans.'
            : table(
                ['key', 'until', 'level', 'by', 'reason'],
                found.map(({ key, until, level, by, reason }) => [
                  cell(key),
                  cell(until),
                  Number(level),
                  cell(by),
                  cell(reason),
                ]),
              ),
        );
    });
  bans
    .command('start <id>')
    .description('ban a key from now on')
    .requiredOption('--for <duration>', 'such as 10m, 1h, 7d')
    .option('--reason <text>', "kept with the ban and in the key's history")
    .option('--json', 'print JSON')
    .action(async (id: string, { for: length, reason, json }: { for: string; reason?: string; json?: true }) => {
      const ban = await (
        await connect()
      ).ask('PUT', pathOf(id, 'bans'), { for: length, ...(reason === undefined ? {} : { reason }) });
      if (json === true) sayJson(ban);
      else say(keyValues(Object.entries(ban).map(([name, value]) => [name, cell(value)])));
    });
  bans
    .command('lift <id>')
    .description('end a ban, and forget what led to it')
    .action(async (id: string) => {
      await (await connect()).ask('DELETE', pathOf(id, 'bans'));
      say(`The ban of key ${id} is lifted.`);
    });
  return bans;
}

const EXAMPLES = `
Examples:
  petgate bans list
  petgate bans start 3hT9sQ0aZk1B --for 1h --reason "runs in a loop"
  petgate bans lift 3hT9sQ0aZk1B`;
