import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { packageRoot } from '../shared/package-root.js';
import { exitWithParent } from '../shared/exit.js';
import { findAdmin } from './admin/address.js';
import { AdminClient } from './admin/admin-client.js';
import { completionCommand } from './completion.js';
import { configCommand } from './config.js';
import { groupsFor } from './groups.js';
import { addExamples } from './examples.js';
import { checkOpenFiles } from './open-files.js';
import { endWithReader } from './terminal/output.js';
import { whyCommand } from './why.js';

/**
 * Returns the command line as commander's tree, which throws CommanderError instead of ending the process.
 * @param words of the command line; with `completion` among them, the tree has all commands
 */
export async function createProgram(words: readonly string[]): Promise<Command> {
  const program = new Command('petgate')
    .description('An API gateway for APIs that are sold or shared by key.')
    .version(versionOf(), '-V, --version')
    .option('--admin-url <url>', 'URL of the admin API (default: ADMIN_HOST and ADMIN_PORT)')
    .showSuggestionAfterError()
    .showHelpAfterError('(see --help)')
    .addHelpText('after', EXAMPLES);
  const connect = async (): Promise<AdminClient> =>
    new AdminClient(await findAdmin(process.env, program.opts<{ adminUrl?: string }>().adminUrl));

  // Each program loads only its own half: the two deploy separately.
  const start = program
    .command('start')
    .description('run gateway and pets together, or the gateway in front of another API')
    .option('--upstream <url>', 'URL of the other API, such as http://localhost:3000 (default: UPSTREAM_URL)')
    .option(
      '--contract <file>',
      'its OpenAPI document; without one, every path is forwarded (default: PETGATE_CONTRACT)',
    )
    .action(async (options: { upstream?: string; contract?: string }) => {
      const { start } = await import('./start/start.js');
      process.exitCode = await start(process.env, options);
    });
  const gateway = program
    .command('gateway')
    .description('run the gateway')
    .action(async () => {
      exitWithParent(stopMyself);
      const { runGateway } = await import('../gateway/main.js');
      await runGateway(process.env);
    });
  const pets = program
    .command('pets')
    .description('run the internal pets service')
    .action(async () => {
      exitWithParent(stopMyself);
      const { runPets } = await import('../pets/main.js');
      await runPets(process.env);
    });
  for (const server of [start, gateway, pets])
    server.hook('preAction', () => {
      checkOpenFiles();
      process.stdout.off('error', endWithReader).on('error', () => undefined);
    });
  for (const command of [...(await groupsFor(connect, words)), whyCommand(connect), configCommand()])
    program.addCommand(command);
  program.addCommand(completionCommand(program));
  addExamples(program);
  throwInsteadOfExit(program);
  return program;
}

/** Shuts down as after `kill`, when the parent process is gone. */
function stopMyself(): void {
  process.kill(process.pid, 'SIGTERM');
}

/** Commander itself would exit with 1 for wrong usage; ours is 2. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride();
  for (const child of command.commands) throwInsteadOfExit(child.copyInheritedSettings(command));
}

function versionOf(): string {
  const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string };
  return version;
}

const EXAMPLES = `
Examples:
  petgate start
  petgate start --upstream http://localhost:3000 --contract openapi.yaml
  petgate keys create --plan free --name "My app"
  petgate usage --by key --format csv
Exit codes: 0 done, 1 refused or failed, 2 wrong usage.`;
