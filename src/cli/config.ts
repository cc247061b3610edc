import { Command } from 'commander';
import type { Sources } from '../gateway/config/load.js';
import type { Operation } from '../gateway/contract/operation/operation.js';
import { CommandError } from './terminal/command-error.js';
import { keyValues, say, sayJson, styled, table } from './terminal/output.js';
import { cell } from '../shared/text/readable.js';

export function configCommand(): Command {
  const config = new Command('config').description('check and show the configuration').addHelpText('after', EXAMPLES);
  config
    .command('check')
    .description('check everything the gateway would read, including tokens and secrets, without starting it')
    .option('--store', 'also check the stores and the plans in use, without writing to the stores')
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
      if (store === true) say('All stores respond and can be used.');
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

/** Names of the errors whose message names a problem of the configuration. */
const REFUSALS = ['InvalidSecret', 'ConfigError'];

/** Throws CommandError with every problem that would keep the gateway, or pets, from starting. */
async function checkAll(withStore: boolean) {
  const { explainSettings } = await import('../gateway/config/explain.js');
  const { loadSources } = await import('../gateway/config/load.js');
  const { summaryOf } = await import('../gateway/config/summary.js');
  const { loadContract } = await import('../gateway/contract/load.js');
  const { checkPrices } = await import('../gateway/contract/prices.js');
  const { checkSecrets, collect } = await import('../gateway/process/secrets.js');
  const problems = [...(await mistakesOfPets())];
  const sources = collect(problems, REFUSALS, () => loadSources(process.env));
  const checked = collect(problems, REFUSALS, () => {
    if (sources === undefined) return undefined;
    const { settings } = sources;
    const { routes, warnings } = loadContract(settings.contract, settings);
    const { operations } = routes;
    const ofPlans = checkPrices(sources, operations);
    return { list: operations, warnings: [...warnings, ...ofPlans], summary: summaryOf(settings, operations.length) };
  });
  collect(problems, REFUSALS, () => checkSecrets(process.env, sources?.settings ?? null));
  if (withStore && sources !== undefined) problems.push(...(await problemsOfStores(sources, checked?.list ?? [])));
  if (checked === undefined || problems.length > 0) throw new CommandError(problems.join('\n'));
  const { list, warnings, summary } = checked;
  return { settings: explainSettings(process.env).length, operations: list.length, warnings, summary };
}

/** Returns the problems of Redis or the data folder, of the plans in use there, and of each PostgreSQL. */
async function problemsOfStores(sources: Sources, operations: readonly Operation[]): Promise<readonly string[]> {
  const { askPostgres, askStore } = await import('../gateway/config/ask-store.js');
  const { unservedInStore } = await import('../gateway/accounts/plans/in-store.js');
  const { renderProblem } = await import('../gateway/config/files/problem.js');
  const { settings } = sources;
  const ofStore = async (): Promise<readonly string[]> => {
    const { problems, holdsKeys } = await askStore(settings);
    return holdsKeys ? [...problems, ...(await unservedInStore(sources, operations)).map(renderProblem)] : problems;
  };
  const asked = await Promise.all([
    ofStore().catch((error: unknown) => {
      if (!(error instanceof Error) || error.name !== 'StoreUnavailable') throw error;
      return [`the store does not respond: ${error.message}`];
    }),
    askPostgres('LEDGER_URL', settings.store.archive),
    askPostgres('DATABASE_URL', process.env['DATABASE_URL'] || null),
  ]);
  return asked.flat();
}

/** Returns the mistakes in variables of pets, except LOG_LEVEL, which the gateway reads too and reports. */
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
