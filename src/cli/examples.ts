import type { Command } from 'commander';

/** Examples in the `--help` of commands that are not actions, by the words after `petgate`. */
const EXAMPLES: Readonly<Record<string, string>> = {
  start: '--upstream http://localhost:3000 --contract openapi.yaml',
  gateway: '',
  pets: '',
  'plans check': 'config/plans.yaml',
  'store export': '--out petgate.store',
  'store import': 'petgate.store',
  'config check': '--store',
  'config show': '--json',
  'completion bash': '> /etc/bash_completion.d/petgate',
  'completion zsh': '> /usr/local/share/zsh/site-functions/_petgate',
};

/** Adds its example to the end of the help of this command and each subcommand. */
export function addExamples(command: Command, name = ''): void {
  const example = EXAMPLES[name];
  if (example !== undefined) command.addHelpText('after', `\nExample:\n  petgate ${`${name} ${example}`.trim()}`);
  for (const child of command.commands) addExamples(child, `${name} ${child.name()}`.trim());
}
