import { Command } from 'commander';
import { cell, say, sayJson, styled, table } from './output.js';

export function configCommand(): Command {
  const config = new Command('config').description('check and show the configuration').addHelpText('after', EXAMPLES);
  config
    .command('check')
    .description('read everything the gateway would read, and start nothing')
    .option('--json', 'print the counts as JSON')
    .action(async ({ json }: { json?: true }) => {
      const { settings, operations } = await readAll();
      if (json === true) sayJson({ settings: settings.length, operations });
      else
        say(`${styled('green', 'The configuration is valid')}: ${settings.length} settings, ${operations} operations.`);
    });
  config
    .command('show')
    .description('list every setting, its value (secrets masked) and where it came from')
    .option('--json', 'print it as JSON')
    .action(async ({ json }: { json?: true }) => {
      const { settings } = await readAll();
      if (json === true) sayJson({ settings });
      else
        say(
          table(
            ['setting', 'from', 'value'],
            settings.map(({ path, value, source }) => [path, source, cell(value)]),
          ),
        );
    });
  return config;
}

/** Everything the gateway would read; throws ConfigError with all that is wrong. */
async function readAll() {
  const { explainSettings } = await import('../gateway/config/explain.js');
  const { loadSources } = await import('../gateway/config/load.js');
  const { loadContract } = await import('../gateway/contract/load.js');
  const { checkPrices } = await import('../gateway/contract/prices.js');
  const settings = explainSettings(process.env);
  const sources = loadSources(process.env);
  const { operations } = loadContract(sources.settings.contract, sources.settings.upstreams).routes;
  checkPrices(sources, operations);
  return { settings, operations: operations.length };
}

const EXAMPLES = `
Examples:
  petgate config check
  PETGATE_CONFIG=config/production.yaml petgate config show`;
