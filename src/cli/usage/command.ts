import { Command } from 'commander';
import type { Connect } from '../client.js';
import { commandsOf } from '../rest/command.js';
import { archiveCommand } from './archive.js';
import { correctionCommands } from './corrections.js';
import { GATEWAYS } from './gateways.js';
import { pushCommand } from './push/command.js';
import { reconcileCommand } from './reconcile.js';
import { reportCommand } from './report.js';

/** `petgate usage`: without a further word it reports. */
export function usageCommand(connect: Connect): Command {
  const usage = new Command('usage')
    .description('report, verify and push the usage ledger')
    .addCommand(reportCommand(connect), { isDefault: true })
    .addCommand(reconcileCommand(connect))
    .addCommand(pushCommand(connect))
    .addHelpText('after', EXAMPLES);
  for (const command of commandsOf(connect, GATEWAYS)) usage.addCommand(command);
  for (const command of correctionCommands(connect)) usage.addCommand(command);
  return usage.addCommand(archiveCommand(connect));
}

const EXAMPLES = `
Examples:
  petgate usage --month 2026-11
  petgate usage report --by key,day --format csv > november.csv
  petgate usage reconcile --day 2026-11-21 --access-log gateway.log
  petgate usage push --to https://meter.example.com/events`;
