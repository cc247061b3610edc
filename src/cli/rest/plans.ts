import { Command } from 'commander';
import type { PlanUse } from '../../gateway/accounts/plans/uses.js';
import type { Connect, Json } from '../client.js';
import { CommandError } from '../command-error.js';
import { cell, say, sayJson, styled } from '../output.js';
import { rehearseCommand } from '../rehearse/command.js';
import { group, type Rows } from './command.js';
import { list } from './show.js';

/** A plan may have one word for all of its limits. */
const WINDOWS = (['minute', 'day', 'month'] as const).map((window) => {
  const limitOf = (row: Json): unknown => {
    const { limits } = row as unknown as PlanUse;
    if (limits !== 'custom' && limits !== null) return cell(limits[window]);
    return window === 'month' ? null : limits;
  };
  return [window, limitOf] as const;
});

const ROWS: Rows = {
  list: [
    'list the plans, with the number of keys and customers on each',
    'GET plans',
    list('plans', [['plan', ({ name }) => name], ['state', stateOf], ...WINDOWS, 'keys', 'customers'], 'No plans.'),
  ],
};

export function plansCommand(connect: Connect): Command {
  const plans = group(
    connect,
    'plans',
    'see who has which plan, check a file of plans, and try it on what happened',
    ROWS,
    EXAMPLES,
  );
  return plans.addCommand(checkCommand(connect)).addCommand(rehearseCommand(connect));
}

function stateOf({ state }: Json): string {
  return String(state).replace('_', ' ');
}

function checkCommand(connect: Connect): Command {
  return new Command('check')
    .argument('<file>')
    .description('name the keys and customers that a plans file would leave without limits; exit code 1 if any')
    .option('--json', 'print JSON')
    .action(async (file: string, { json }: { json?: true }) => {
      const { readPlanFile } = await import('../../gateway/config/load.js');
      const body = readPlanFile(file) as Json;
      const said = await (await connect()).ask('POST', '/admin/v1/plans/check', body);
      const [problems, warnings] = [linesIn(said, 'problems'), linesIn(said, 'warnings')];
      if (json === true) sayJson({ problems, warnings });
      else for (const warning of warnings) say(`${styled('yellow', 'warning:')} ${warning}`);
      if (problems.length > 0) throw new CommandError(problems.join('\n'));
      if (json !== true) say(`${styled('green', 'The plans fit')}: they serve every key and customer in the store.`);
    });
}

function linesIn(said: Json, name: string): readonly string[] {
  const lines = said[name];
  return Array.isArray(lines) ? lines.map((line) => cell(line)) : [];
}

const EXAMPLES = `
Examples:
  petgate plans list
  petgate plans check config/plans.yaml   # before it is put in place
  petgate plans rehearse plans-2027.yaml --log gateway.log`;
