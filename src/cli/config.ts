import { Command } from 'commander';
import { collect } from '../shared/problems.js';
import { CommandError } from './command-error.js';
import { cell, say, sayJson, styled, table } from './output.js';

export function configCommand(): Command {
  const config = new Command('config').description('check and show the configuration').addHelpText('after', EXAMPLES);
  config
    .command('check')
    .description('read everything the gateway would read, its tokens and secrets too, and start nothing')
    .option('--json', 'print the counts as JSON')
    .action(async ({ json }: { json?: true }) => {
      const { settings, operations } = await checkAll();
      if (json === true) sayJson({ settings, operations });
      else say(`${styled('green', 'The configuration is valid')}: ${settings} settings, ${operations} operations.`);
    });
  config
    .command('show')
    .description('list every setting, its value (secrets masked) and where it came from')
    .option('--json', 'print it as JSON')
    .action(async ({ json }: { json?: true }) => {
      const { explainSettings } = await import('../gateway/config/explain.js');
      const settings = explainSettings(process.env);
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

/** The names of the errors that say what is wrong with the configuration. */
const REFUSALS = ['BadSecret', 'ConfigError'];

/** How many settings and operations there are; throws CommandError with all that the gateway would refuse to start on. */
async function checkAll(): Promise<{ readonly settings: number; readonly operations: number }> {
  const { explainSettings } = await import('../gateway/config/explain.js');
  const { loadSources } = await import('../gateway/config/load.js');
  const { loadContract } = await import('../gateway/contract/load.js');
  const { checkPrices } = await import('../gateway/contract/prices.js');
  const { checkSecrets } = await import('../gateway/secrets.js');
  const problems: string[] = [];
  const sources = collect(problems, REFUSALS, () => loadSources(process.env));
  const operations = collect(problems, REFUSALS, () => {
    if (sources === undefined) return 0;
    const { contract, upstreams } = sources.settings;
    const { routes } = loadContract(contract, upstreams);
    checkPrices(sources, routes.operations);
    return routes.operations.length;
  });
  collect(problems, REFUSALS, () => checkSecrets(process.env, sources?.settings ?? null));
  if (operations === undefined || problems.length > 0) throw new CommandError(problems.join('\n'));
  return { settings: explainSettings(process.env).length, operations };
}

const EXAMPLES = `
Examples:
  petgate config check            # with the environment that the gateway will have
  PETGATE_CONFIG=config/production.yaml petgate config show`;
