import { Command } from 'commander';
import type { Connect, Json } from '../admin/admin-client.js';
import { CommandError } from '../terminal/command-error.js';
import { say, sayJson, styled } from '../terminal/output.js';
import { cell } from '../../shared/text/readable.js';

export function checkCommand(connect: Connect): Command {
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
