import type { Command } from 'commander';

/** What the `--help` of commands that are no actions ends with, by the command's name behind `petgate`. */
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

/** Ends the help of this command, and of each below it, with its example. */
export function addExamples(command: Command, name = ''): void {
  const example = EXAMPLES[name];
  if (example !== undefined) command.addHelpText('after', `\nExample:\n  petgate ${`${name} ${example}`.trim()}`);
  for (const child of command.commands) addExamples(child, `${name} ${child.name()}`.trim());
}
