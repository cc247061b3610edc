import { Command } from 'commander';
import { say } from './terminal/output.js';

const SHELLS = ['bash', 'zsh'];
/** Lets zsh run the script for bash. */
const ZSH = '#compdef petgate\nautoload -U +X bashcompinit && bashcompinit\n';

/** Returns `petgate completion bash|zsh`, which prints a script for all commands of `program`. */
export function completionCommand(program: Command): Command {
  const command = new Command('completion')
    .description('print a completion script for your shell')
    .addHelpText('after', EXAMPLES);
  for (const shell of SHELLS) {
    command
      .command(shell)
      .description(`for ${shell}`)
      .action(() => say((shell === 'zsh' ? ZSH : '') + bashScript(program)));
  }
  return command;
}

/** Returns the words that may follow each command: `petgate keys` → `create list … --help`. */
function wordsByPath(command: Command, path = command.name()): Map<string, string[]> {
  const words = [
    ...command.commands.map((child) => child.name()),
    ...command.options.map(({ long }) => long ?? ''),
    '--help',
  ].filter((word) => word !== '');
  const all = new Map([[path, words]]);
  for (const child of command.commands)
    for (const entry of wordsByPath(child, `${path} ${child.name()}`)) all.set(...entry);
  return all;
}

function bashScript(program: Command): string {
  const cases = [...wordsByPath(program)].map(([path, words]) => `    '${path}') words='${words.join(' ')}' ;;`);
  return `_petgate() {
  local path=petgate word words=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] || path="$path $word"
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _petgate petgate`;
}

const EXAMPLES = `
Examples:
  petgate completion bash > /etc/bash_completion.d/petgate
  petgate completion zsh > "\${fpath[1]}/_petgate"`;
