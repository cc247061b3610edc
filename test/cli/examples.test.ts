import type { Command } from 'commander';
import t from 'tap';
import { createProgram } from '../../src/cli/program.js';

/** With it, every command is there. */
const ALL = ['completion'];

function leavesOf(command: Command): readonly Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (more) => (text += more) }).outputHelp();
  return text;
}

function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}

/** The words of a line, as a shell reads them; nothing behind `>`. */
function wordsOf(line: string): readonly string[] {
  return [...line.replace(/ >.*/, '').matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}

t.test("each command's help ends with an example, and the command accepts it", async (t) => {
  for (const name of leavesOf(await createProgram(ALL)).map(nameOf)) {
    const program = await createProgram(ALL);
    const command = leavesOf(program).find((each) => nameOf(each) === name)!;
    const lines =
      helpOf(command)
        .split(/\nExamples?:\n/)[1]
        ?.match(/^ {2}petgate .*$/gm) ?? [];
    t.ok(lines.length > 0, `${name} has an example`);
    const ran: string[] = [];
    for (const each of leavesOf(program)) each.action(() => void ran.push(nameOf(each)));
    for (const line of lines) await program.parseAsync(wordsOf(line.trim().slice('petgate '.length)), { from: 'user' });
    t.ok(ran.length === lines.length && ran.includes(name), lines.join());
  }
});
