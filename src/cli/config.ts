import { Command } from 'commander';
import type { Settings } from '../gateway/config/settings.js';
import { CommandError } from './command-error.js';
import { cell, keyValues, say, sayJson, styled, table } from './output.js';

export function configCommand(): Command {
  const config = new Command('config').description('check and show the configuration').addHelpText('after', EXAMPLES);
  config
    .command('check')
    .description(
      'read everything the gateway would read, its tokens and secrets too, say what would run, start nothing',
    )
    .option('--store', 'ask the store too, and write nothing to it')
    .option('--json', 'print it as JSON')
    .action(async ({ json, store }: { json?: true; store?: true }) => {
      const { settings, operations, summary, warnings } = await checkAll(store === true);
      if (json === true) {
        sayJson({ settings, operations, summary, warnings });
        return;
      }
      for (const warning of warnings) say(`${styled('yellow', 'warning:')} ${warning}`);
      say(keyValues(Object.entries(summary)));
      say(`${styled('green', 'The configuration is valid')}: ${settings} settings, ${operations} operations.`);
      if (store === true) say('The store answers, and nothing speaks against it.');
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

/** What would run. */
interface Checked {
  readonly settings: number;
  readonly operations: number;
  readonly summary: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

/** Throws CommandError with all that the gateway, or pets with these variables, would refuse to start on. */
async function checkAll(withStore: boolean): Promise<Checked> {
  const { explainSettings } = await import('../gateway/config/explain.js');
  const { loadSources } = await import('../gateway/config/load.js');
  const { summaryOf } = await import('../gateway/config/summary.js');
  const { loadContract } = await import('../gateway/contract/load.js');
  const { checkPrices } = await import('../gateway/contract/prices.js');
  const { checkSecrets, collect } = await import('../gateway/secrets.js');
  const problems = [...(await mistakesOfPets())];
  const sources = collect(problems, REFUSALS, () => loadSources(process.env));
  const checked = collect(problems, REFUSALS, () => {
    if (sources === undefined) return undefined;
    const { settings } = sources;
    const { operations } = loadContract(settings.contract, settings.upstreams).routes;
    const warnings = checkPrices(sources, operations);
    return { operations: operations.length, warnings, summary: summaryOf(settings, operations.length) };
  });
  collect(problems, REFUSALS, () => checkSecrets(process.env, sources?.settings ?? null));
  if (withStore && sources !== undefined) problems.push(...(await problemsOfStore(sources.settings)));
  if (checked === undefined || problems.length > 0) throw new CommandError(problems.join('\n'));
  return { settings: explainSettings(process.env).length, ...checked };
}

async function problemsOfStore(settings: Settings): Promise<readonly string[]> {
  const { askStore } = await import('../gateway/config/ask-store.js');
  return askStore(settings).catch((error: unknown) => {
    if (!(error instanceof Error) || error.name !== 'StoreUnavailable') throw error;
    return [`the store does not answer: ${error.message}`];
  });
}

/** Of variables that pets reads: LOG_LEVEL is the gateway's too, which names it. */
async function mistakesOfPets(): Promise<readonly string[]> {
  try {
    const { mistakesIn } = await import('../pets/config.js');
    return mistakesIn(process.env).filter((mistake) => !mistake.startsWith('LOG_LEVEL'));
  } catch (error) {
    // The image of the gateway has no pets.
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') return [];
    throw error;
  }
}

const EXAMPLES = `
Examples:
  petgate config check            # with the environment that the gateway will have
  petgate config check --store    # where it can reach the store
  PETGATE_CONFIG=config/production.yaml petgate config show`;
