import { Readable } from 'node:stream';
import { Command } from 'commander';
import type { LedgerOutcome } from '../../gateway/usage/rehearsal/ledger/rehearse.js';
import type { Connect } from '../admin/admin-client.js';
import { CommandError } from '../terminal/command-error.js';
import { logFiles } from '../usage/log-files.js';
import { say, sayJson } from '../terminal/output.js';
import { rehearsedLog } from './log.js';
import { checkPlans, textOfLedger, textOfLog } from './show.js';

interface Options {
  readonly log?: readonly string[];
  readonly ledger?: string;
  readonly today?: string;
  readonly json?: true;
}

export function rehearseCommand(connect: Connect): Command {
  return new Command('rehearse')
    .argument('<file>')
    .description('replay an access log or the ledger under other plans')
    .option('--log <file...>', 'access logs of all gateways: JSON lines, also .gz; - reads standard input')
    .option('--ledger <month>', 'instead of a log, a UTC month of the ledger such as 2026-11, through the gateway')
    .option(
      '--today <file>',
      'with --log: the plans that were in force, to show what was owed; without it, only the new amounts are shown',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (file: string, options: Options) => {
      checkOptions(options);
      const { log = [], ledger, today, json } = options;
      const print = <Outcome>(outcome: Outcome, textOf: (outcome: Outcome) => string): void =>
        json === true ? sayJson(outcome) : say(textOf(outcome));
      if (ledger === undefined) print(await rehearsedLog(file, today, logFiles(log)), textOfLog);
      else print(await rehearsedLedger(connect, file, ledger), textOfLedger);
    });
}

function checkOptions({ log, ledger, today }: Options): void {
  if ((log === undefined) === (ledger === undefined)) throw new CommandError('Give either --log or --ledger.', 2);
  if (ledger !== undefined && today !== undefined)
    throw new CommandError('--today is for --log: the gateway knows the plans in force.', 2);
}

/** Asks the gateway, which may take minutes. */
async function rehearsedLedger(connect: Connect, file: string, month: string): Promise<LedgerOutcome> {
  const { readPlanFile } = await import('../../gateway/config/load.js');
  const plans = Readable.from([Buffer.from(JSON.stringify(readPlanFile(file)))]);
  const path = `/admin/v1/plans/rehearse?${new URLSearchParams({ month }).toString()}`;
  const outcome = (await (await connect()).upload(path, plans)) as unknown as LedgerOutcome;
  checkPlans(outcome.missingPlans, file);
  return outcome;
}

const EXAMPLES = `
With --log it needs no gateway. Lines of several gateways and files are sorted into the order in which they were
decided, unless they are more than two minutes, or 100,000 lines, out of order. Bans and grants by operators are taken
from the log. With --ledger the gateway applies the plans to its counts: days, months and amounts, but no minutes.
Examples:
  petgate plans rehearse plans-2027.yaml --log gateway-a.log gateway-b.log.1.gz
  petgate plans rehearse plans-2027.yaml --today plans.yaml --log november.log.gz
  petgate plans rehearse plans-2027.yaml --ledger 2026-11
  journalctl -u petgate -o cat | petgate plans rehearse plans-2027.yaml --log -`;
