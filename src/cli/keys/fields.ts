import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import type { Json } from '../client.js';
import { CommandError } from '../command-error.js';

export interface LimitOptions {
  readonly minute?: string;
  readonly day?: string;
  readonly month?: string;
}

export function limitOptions(command: Command): Command {
  return command
    .option('--minute <limit>', 'on a plan with custom limits: requests per minute, or unlimited')
    .option('--day <limit>', 'the same per day')
    .option('--month <limit>', 'the same per calendar month; none unless said');
}

/** The fields that were given. */
export function given(fields: Json): Json {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The limits that were given; undefined without any. */
export function limitsOf({ minute, day, month }: LimitOptions): Json | undefined {
  const limits = {
    ...(minute === undefined ? {} : { minute: limitOf(minute) }),
    ...(day === undefined ? {} : { day: limitOf(day) }),
    ...(month === undefined ? {} : { month: limitOf(month) }),
  };
  return Object.keys(limits).length === 0 ? undefined : limits;
}

/** A figure as a number; anything else goes to the gateway as it is, which says what is wrong with it. */
function limitOf(text: string): number | string {
  return /^[0-9]{1,15}$/.test(text) ? Number(text) : text;
}

export function countOf(text: string): number {
  if (/^[1-9][0-9]{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 1.');
}

/** The path of a key, a customer or an admin token. A whole one is refused, unrepeated: it stands in the shell's history and in `ps` already. */
export function pathOf(id: string, collection = 'keys'): string {
  if (id.startsWith('ptg_'))
    throw new CommandError(
      "This is a whole key. Give its id, the 12 characters after ptg_<environment>_ (14 of a customer's key); and rotate the key, for the command line is no secret place.",
      2,
    );
  if (id.startsWith('pta_'))
    throw new CommandError(
      'This is a whole admin token. Give its id, the 12 characters after pta_; and revoke the token, for the command line is no secret place.',
      2,
    );
  return `/admin/v1/${collection}/${encodeURIComponent(id)}`;
}
