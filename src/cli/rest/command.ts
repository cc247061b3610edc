import { Command, Option } from 'commander';
import type { AdminClient, Connect, Json, Method } from '../client.js';
import { CommandError } from '../command-error.js';
import { say, sayJson } from '../output.js';
import { fieldsIn, OPTIONS } from './options.js';
import type { Show, Values } from './show.js';

/** A command that is one request to the admin API. */
export type Row = readonly [
  about: string,
  /** Method, and path behind `/admin/v1/`; `{id}` is the argument or option of that name. */
  request: string | ((values: Values) => string),
  show: Show,
  /** Names of options, those that must be given with a `!`. What isn't in the path is sent. */
  options?: string,
  more?: {
    /** What is sent instead of the options that were given. A GET has it in its query. */
    readonly send?: (fields: Json, values: Values) => Json | Promise<Json>;
    /** Instead of the one id, all of these. */
    readonly bulk?: Bulk;
    /** Behind the list of its options. */
    readonly help?: string;
  },
];

interface Bulk {
  readonly flag: string;
  readonly about: string;
  /** As in `of an event, or --dead for all dead ones`. */
  readonly either: string;
  readonly ids: (client: AdminClient) => Promise<readonly string[]>;
}

/** By name and arguments as commander has them: `show <id>`. */
export type Rows = Readonly<Record<string, Row>>;

/** A group of commands, such as `petgate keys`. */
export function group(connect: Connect, name: string, about: string, rows: Rows, help = ''): Command {
  const command = new Command(name).description(about).addHelpText('after', help);
  for (const child of commandsOf(connect, rows)) command.addCommand(child);
  return command;
}

export function commandsOf(connect: Connect, rows: Rows): readonly Command[] {
  return Object.entries(rows).map(([usage, row]) => {
    const [about, , show, options = '', { bulk, help = '' } = {}] = row;
    const [name = '', ...args] = usage.split(' ');
    const command = new Command(name).description(about).addHelpText('after', help);
    for (const arg of args) command.argument(arg);
    for (const option of options.split(' ').filter(Boolean)) command.addOption(optionOf(option));
    if (bulk !== undefined) command.option(bulk.flag, bulk.about);
    if (show.isQuiet !== true) command.option('--json', 'print JSON');
    return command.action(() => run(connect, row, command));
  });
}

function optionOf(text: string): Option {
  const name = text.replace('!', '');
  const { value = '', about, choices, fallback } = OPTIONS[name]!;
  const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const option = new Option(`${flag} ${value}`, about).makeOptionMandatory(text !== name).default(fallback);
  return choices === undefined ? option : option.choices(choices);
}

async function run(connect: Connect, row: Row, command: Command): Promise<void> {
  const [, , show, , { bulk } = {}] = row;
  const { json, ...options } = command.opts<Record<string, string> & { json?: true }>();
  const args = command.registeredArguments.map((argument, n) => [argument.name(), command.args[n]] as const);
  const values = { ...options, ...Object.fromEntries(args) };
  const answer = bulk === undefined ? await ask(connect, row, values) : await askEach(connect, row, bulk, values);
  if (json !== true) say(show.text(answer, values));
  else sayJson(show.pages === undefined ? answer : { [show.pages]: answer[show.pages] });
}

async function ask(connect: Connect, row: Row, values: Values): Promise<Json> {
  const [, , { pages }, options = '', { send } = {}] = row;
  const { method, path, used } = filled(row, values);
  const names = options.replaceAll('!', '').split(' ');
  const given = fieldsIn(
    names.filter((name) => name !== '' && !used.includes(name)),
    values,
  );
  const sent = send === undefined ? given : await send(given, values);
  const client = await connect();
  if (method !== 'GET') return client.ask(method, path, Object.keys(sent).length === 0 ? undefined : sent);
  const query = new URLSearchParams(sent as Record<string, string>);
  if (pages === undefined) return client.ask(method, query.size === 0 ? path : `${path}?${query.toString()}`);
  return client.askAll(path, query, pages, Number(values['limit'] ?? Infinity));
}

/** One by its id, or all of the bulk option. Gives the ids. */
async function askEach(connect: Connect, row: Row, { flag, either, ids: all }: Bulk, values: Values): Promise<Json> {
  const { id } = values;
  if ((id === undefined) === (values[flag.slice(2)] === undefined)) throw new CommandError(`Give the id ${either}.`, 2);
  if (id !== undefined) filled(row, values);
  const client = await connect();
  const ids = id === undefined ? await all(client) : [id];
  for (const each of ids) {
    const { method, path } = filled(row, { id: each });
    await client.ask(method, path);
  }
  return { ids };
}

function filled([, request]: Row, values: Values): { method: Method; path: string; used: readonly string[] } {
  const [method, template = ''] = (typeof request === 'string' ? request : request(values)).split(' ');
  const used = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => segment(values[name] ?? ''));
  return { method: method as Method, path: `/admin/v1/${path}`, used };
}

/** An id in a path. A whole key or token is refused, unrepeated: the shell's history and `ps` have it already. */
export function segment(id: string): string {
  if (id.startsWith('ptg_'))
    throw new CommandError(
      "This is a whole key. Give its id, the 12 characters after ptg_<environment>_ (14 of a customer's key); " +
        'and rotate the key, for the command line is no secret place.',
      2,
    );
  if (id.startsWith('pta_'))
    throw new CommandError(
      'This is a whole admin token. Give its id, the 12 characters after pta_; and revoke the token, for the ' +
        'command line is no secret place.',
      2,
    );
  return encodeURIComponent(id);
}
