import { Command } from 'commander';
import type { Connect } from './client.js';
import { cell, say, sayJson } from './output.js';

export function storeCommand(connect: Connect): Command {
  const store = new Command('store').description('what a gateway may take for its store');
  store
    .command('accept')
    .description('take Redis as it is, though it has lost its data or is another one')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nAll gateways that knew the store before follow. Keys, bans and counts that it does not have are gone: where there is a copy, bring that back instead.',
    )
    .action(async ({ json }: { readonly json?: true }) => {
      const found = await (await connect()).ask('POST', '/admin/v1/store/accept');
      if (json === true) sayJson(found);
      else if (found['accepted'] === true) say(`The store ${cell(found['id'])} is taken as it is.`);
      else say(`The store ${cell(found['id'])} is what it was: there was nothing to accept.`);
    });
  return store;
}
