import { Command } from 'commander';
import type { PlanUse } from '../../gateway/accounts/plans/uses.js';
import { listIn } from '../client.js';
import type { Connect, Json } from '../client.js';
import { CommandError } from '../command-error.js';
import { cell, say, sayJson, styled, table } from '../output.js';

const COLUMNS = ['plan', 'state', 'minute', 'day', 'month', 'keys', 'customers'];

export function plansCommand(connect: Connect): Command {
  const plans = new Command('plans')
    .description('see who has which plan, and check a file of plans')
    .addHelpText('after', EXAMPLES);
  plans
    .command('list')
    .description('list the plans, with the number of keys and customers on each')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: true }) => {
      const found = listIn(await (await connect()).ask('GET', '/admin/v1/plans'), 'plans');
      if (json === true) sayJson({ plans: found });
      else say(table(COLUMNS, (found as readonly unknown[] as readonly PlanUse[]).map(rowOf)));
    });
  plans
    .command('check <file>')
    .description('tell what a file of plans would take from keys and customers in the store; exit code 1 if anything')
    .option('--json', 'print JSON')
    .action(async (file: string, { json }: { json?: true }) => {
      const { readPlanFile } = await import('../../gateway/config/load.js');
      const body = readPlanFile(file) as Json;
      const said = await (await connect()).ask('POST', '/admin/v1/plans/check', body);
      const [problems, warnings] = [linesIn(said, 'problems'), linesIn(said, 'warnings')];
      if (json === true) sayJson({ problems, warnings });
      else for (const warning of warnings) say(`${styled('yellow', 'warning:')} ${warning}`);
      if (problems.length > 0) throw new CommandError(problems.join('\n'));
      if (json !== true) say(`${styled('green', 'The plans fit')}: nobody in the store loses by them.`);
    });
  return plans;
}

function rowOf({ name, state, limits, keys, customers }: PlanUse): readonly (string | number)[] {
  const { minute, day, month } = limits === 'custom' || limits === null ? { minute: limits, day: limits } : limits;
  return [name, state.replace('_', ' '), cell(minute), cell(day), cell(month), keys, customers];
}

function linesIn(said: Json, name: string): readonly string[] {
  const lines = said[name];
  return Array.isArray(lines) ? lines.map((line) => cell(line)) : [];
}

const EXAMPLES = `
Examples:
  petgate plans list
  petgate plans check config/plans.yaml   # before it is put in place`;
