import { Option } from 'commander';
import type { Action } from '../../gateway/actions/action.js';
import type { Command, Values } from '../../gateway/actions/command.js';
import { lowered, optionsFor, type Field } from './options.js';

/** An action as a command. Several offers may share one command. */
export interface Offer {
  readonly action: Pick<Action, 'method' | 'path' | 'query' | 'issues'>;
  readonly command: Command;
  readonly words: readonly string[];
  readonly about: string;
  /** `<id>`, `[id]` */
  readonly args: readonly string[];
  /** The option that tells it from other offers with the same words, such as `--customer <id>`. */
  readonly selector: Option | null;
  /** Names of the arguments, or of the selector, that fill the path. */
  readonly inPath: readonly string[];
  readonly fields: readonly Field[];
}

/** Returns every action that the command line offers. */
export async function allOffers(): Promise<readonly Offer[]> {
  const [{ ACTIONS }, { z }] = await Promise.all([import('../../gateway/actions/table/actions.js'), import('zod')]);
  return ACTIONS.flatMap((action) =>
    [action.commands ?? []].flat().map((command) => {
      const { takes, query = {}, summary } = action;
      const { sends, instead, about = summary, usage } = command;
      const schema = instead === undefined ? (takes ?? z.object(query)) : z.strictObject(instead.fields);
      const fields = sends === undefined ? optionsFor(z.toJSONSchema(schema, { io: 'input' })) : [];
      return { action, command, about: lowered(about), fields, ...partsOf(usage) };
    }),
  );
}

function partsOf(usage: string): Pick<Offer, 'words' | 'args' | 'selector' | 'inPath'> {
  const parts = usage.split(' ');
  const until = (pattern: RegExp): number => {
    const index = parts.findIndex((part) => pattern.test(part));
    return index === -1 ? parts.length : index;
  };
  const [begin, end] = [until(/^[<[-]/), until(/^--/)];
  const listed = parts.slice(begin, end);
  const selector = end === parts.length ? null : new Option(parts.slice(end).join(' '), 'instead of an ID');
  const inPath = selector?.required === true ? [selector.attributeName()] : listed.map(nameOf);
  return { words: parts.slice(0, begin), args: listed, selector, inPath };
}

function nameOf(argument: string): string {
  return argument.slice(1, -1);
}

/** Returns the offer that takes exactly the given arguments and selector; undefined if there is none. */
export function offerFor(offers: readonly Offer[], given: Values): Offer | undefined {
  if (offers.length === 1) return offers[0];
  const namesOf = ({ args, selector }: Offer): readonly string[] => [
    ...args.map(nameOf),
    ...(selector === null ? [] : [selector.attributeName()]),
  ];
  const names = offers.flatMap(namesOf);
  return offers.find(
    (offer) =>
      names.every((name) => (given[name] !== undefined) === namesOf(offer).includes(name)) &&
      (offer.command.when?.(given) ?? true),
  );
}
