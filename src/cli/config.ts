import { Command } from 'commander';
import { cell, say, sayJson, styled, table } from './output.js';

export function configCommand(): Command {
  const config = new Command('config').description('check and show the configuration').addHelpText('after', EXAMPLES);
  config.command('check').description('read everything the gateway would read, and start nothing')
    .option('--json', 'print the settings as JSON')
    .option('--show', 'list every setting, its value and where it came from')
    .action(async ({ json, show }: { json?: true; show?: true }) => {
      const { explainSettings } = await import('../gateway/config/explain.js');
      const { loadContract } = await import('../gateway/contract/load.js');
      const settings = explainSettings(process.env);
      const { routes } = loadContract();
      if (json === true) {
        sayJson({ settings });
        return;
      }
      if (show === true) say(`${table(['setting', 'value', 'from'], settings.map(({ path, value, source }) => [path, cell(value), source]))}\n`);
      say(`${styled('green', 'The configuration is good')}: ${settings.length} settings, ${routes.operations.length} operations.`);
    });
  return config;
}

const EXAMPLES = `
Examples:
  petgate config check
  PETGATE_CONFIG=config/production.yaml petgate config check --show`;
