import { Command, Option } from 'commander';
import type { Connect } from '../admin/admin-client.js';
import { CommandError } from '../terminal/command-error.js';
import type { Values } from '../../gateway/actions/command.js';
import { offerFor, type Offer } from './offer.js';
import { run } from './run.js';

/** Returns one command for all offers with the same words: arguments and options select the offer. */
export function commandFor(connect: Connect, offers: readonly Offer[]): Command {
  const [{ words }] = offers as readonly [Offer];
  const command = new Command(words.at(-1)).description([...new Set(offers.map(({ about }) => about))].join('; or '));
  for (const argument of new Set(offers.flatMap(({ args }) => args)))
    command.argument(
      offers.every(({ args }) => args.includes(argument)) ? argument : argument.replace(/<(\w+)>/, '[$1]'),
    );
  for (const option of optionsOf(offers)) command.addOption(option);
  for (const text of helpOf(offers)) command.addHelpText('after', `\n${text}`);
  return command.action(() => {
    const { json, ...options } = command.opts<Record<string, string> & { json?: true }>();
    const args = command.registeredArguments.map((argument, n) => [argument.name(), command.args[n]] as const);
    const given: Values = { ...options, ...Object.fromEntries(args) };
    const offer = offerFor(offers, given);
    if (offer === undefined) throw new CommandError(`Give one of:\n${usagesOf(offers).join('\n')}`, 2);
    return run(connect, { ...offer, given, json: json === true });
  });
}

function optionsOf(offers: readonly Offer[]): Iterable<Option> {
  const all = offers.flatMap(({ selector, fields, command: { bulk, prints = { text: () => '' } } }) => [
    ...(selector === null ? [] : [selector]),
    ...fields.map(({ option }) => option),
    ...(bulk === undefined ? [] : [new Option(`--${bulk.option}`, bulk.about)]),
    ...('done' in prints ? [] : 'file' in prints ? [OUTPUT] : [JSON_OPTION]),
  ]);
  return new Map(all.map((option) => [option.long, option])).values();
}

const JSON_OPTION = new Option('--json', 'print JSON');
const OUTPUT = new Option(
  '--output <file>',
  'write to this file, readable only by you; it appears once it is complete',
);

function helpOf(offers: readonly Offer[]): readonly string[] {
  return [...offers.flatMap(({ command: { help } }) => help ?? []), examplesOf(offers)];
}

export function examplesOf(offers: readonly Offer[]): string {
  const lines = new Set(
    offers.map(({ words, command: { example } }) => `  petgate ${[...words, example].join(' ').trim()}`),
  );
  return `Example${lines.size > 1 ? 's' : ''}:\n${[...lines].join('\n')}`;
}

function usagesOf(offers: readonly Offer[]): readonly string[] {
  return [...new Set(offers.map(({ command: { usage } }) => `  petgate ${usage}`))];
}
