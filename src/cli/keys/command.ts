import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import type { Connect, Json } from '../client.js';
import { CommandError } from '../command-error.js';
import { countOf, given, limitOptions, limitsOf, pathOf } from './fields.js';
import type { LimitOptions } from './fields.js';
import { grantCommands, recordTable } from './grants.js';
import { exportCommand, importCommand } from './transfer.js';
import { cell, say, sayJson, styled, table } from '../output.js';

interface FieldOptions extends LimitOptions {
  readonly plan?: string;
  readonly name?: string;
  readonly note?: string;
  readonly scope?: readonly string[];
  readonly expires?: string;
  readonly customer?: string;
}

export function keysCommand(connect: Connect): Command {
  const keys = new Command('keys').description('create, find, change and end API keys').addHelpText('after', EXAMPLES);
  fieldOptions(
    keys
      .command('create')
      .description('make a key; it is shown once')
      .option('--plan <plan>', 'free, pro, business, enterprise')
      .option('--customer <id>', 'whose plan, limits and buckets it shares, instead of a plan')
      .requiredOption('--name <name>', 'whose key it is'),
  )
    .option('--import', 'bring in a key of another form, read from standard input')
    .option('--json', 'print JSON')
    .action(async (options: FieldOptions & { import?: true; json?: true }) => {
      if (options.plan === undefined && options.customer === undefined)
        throw new CommandError('Say --plan, or --customer for a key that shares the plan of a customer.', 2);
      const imported = options.import === true ? { key: (await text(process.stdin)).trim() } : {};
      const made = await (await connect()).ask('POST', '/admin/v1/keys', { ...fieldsOf(options), ...imported });
      showIssued(made, options.json, 'Key created.');
    });
  listCommand(keys, connect);
  keys
    .command('show <id>')
    .description('show one key')
    .option('--json', 'print JSON')
    .action(async (id: string, { json }: { json?: true }) =>
      showKey(await (await connect()).ask('GET', pathOf(id)), json),
    );
  fieldOptions(
    keys
      .command('change <id>')
      .description('change a key; holds on its very next request')
      .option('--plan <plan>', 'move it to this plan')
      .option('--name <name>', 'a new name'),
  )
    .option('--all-scopes', 'may do everything')
    .option('--json', 'print JSON')
    .action(async (id: string, options: FieldOptions & { allScopes?: true; json?: true }) => {
      const fields = { ...fieldsOf(options), ...(options.allScopes === true ? { scopes: null } : {}) };
      showKey(await (await connect()).ask('PATCH', pathOf(id), fields), options.json);
    });
  keys
    .command('rotate <id>')
    .description('give a key a new secret; the old one stays good for the overlap')
    .option(
      '--overlap <duration>',
      'such as 30m, 24h, 7d; 0s ends the old one at once. An end that is set already is never moved further away',
      '24h',
    )
    .option('--json', 'print JSON')
    .action(async (id: string, { overlap, json }: { overlap: string; json?: true }) => {
      const rotated = await (await connect()).ask('POST', `${pathOf(id)}/rotate`, { overlap });
      showIssued(rotated, json, 'New secret made.');
      if (json !== true) say(`\n${oldSecretIn(rotated)}`);
    });
  lifeCommands(keys, connect);
  grantCommands(keys, connect, 'keys');
  for (const command of [importCommand(connect), exportCommand(connect)]) keys.addCommand(command);
  return keys;
}

function listCommand(keys: Command, connect: Connect): void {
  keys
    .command('list')
    .description('list keys, by id')
    .option('--plan <plan>', 'only those on this plan')
    .option('--status <status>', 'only enabled, disabled or revoked ones')
    .option('--name <prefix>', 'only those whose name begins so')
    .option('--customer <id>', 'only those of this customer')
    .option('--limit <count>', 'the first so many', countOf)
    .option('--json', 'print JSON')
    .action(async ({ json, limit, ...filter }: Readonly<Record<string, string>> & { json?: true; limit?: number }) => {
      const found = await (await connect()).askAll('/admin/v1/keys', new URLSearchParams(filter), 'keys', limit);
      if (json === true) sayJson({ keys: found });
      else
        say(
          found.length === 0
            ? 'No keys.'
            : table(
                ['id', 'name', 'plan', 'status', 'created', 'expires'],
                found.map((key) => [
                  cell(key['id']),
                  cell(key['name']),
                  cell(key['plan']),
                  cell(key['status']),
                  dayIn(key['created']),
                  dayIn(key['expires']),
                ]),
              ),
        );
    });
}

function lifeCommands(keys: Command, connect: Connect): void {
  for (const [name, status] of [
    ['enable', 'enabled'],
    ['disable', 'disabled'],
  ] as const) {
    keys
      .command(`${name} <id>`)
      .description(`${name} a key`)
      .action(async (id: string) => {
        await (await connect()).ask('PATCH', pathOf(id), { status });
        say(`Key ${id} is ${status}.`);
      });
  }
  keys
    .command('revoke <id>')
    .description('end a key for ever')
    .action(async (id: string) => {
      await (await connect()).ask('DELETE', pathOf(id));
      say(`Key ${id} is revoked.`);
    });
  keys
    .command('erase <id>')
    .description('forget name and notes of a revoked key for ever; its id and usage stay')
    .action(async (id: string) => {
      await (await connect()).ask('POST', `${pathOf(id)}/erase`);
      say(`Name and notes of key ${id} are erased.`);
    });
  keys
    .command('history <id>')
    .description('what happened to a key')
    .option('--json', 'print JSON')
    .action(async (id: string, { json }: { json?: true }) => {
      const answer = await (await connect()).ask('GET', `${pathOf(id)}/history`);
      const entries = answer['history'] as readonly Json[];
      if (json === true) sayJson(answer);
      else say(historyTable(entries));
    });
}

function fieldOptions(command: Command): Command {
  return limitOptions(command)
    .option('--note <text>', 'for operators')
    .option('--scope <scope...>', 'what it may do: pets:read, pets:write (everything unless said)')
    .option('--expires <date>', '2027-01-31, 2027-01-31T12:00:00Z, or never');
}

function fieldsOf({ plan, name, note, scope, expires, customer, ...limits }: FieldOptions): Json {
  return given({
    customer,
    plan,
    name,
    note,
    scopes: scope,
    expires: expires === 'never' ? null : expires,
    limits: limitsOf(limits),
  });
}

function showIssued(issued: Json, json: true | undefined, title: string): void {
  if (json === true) {
    sayJson(issued);
    return;
  }
  say(`${title} It is shown only this once:\n\n  ${styled('bold', cell(issued['key']))}\n`);
  showKey(issued, undefined);
}

function showKey(key: Json, json: true | undefined): void {
  if (json === true) sayJson(key);
  else say(recordTable(Object.fromEntries(Object.entries(key).filter(([name]) => name !== 'key'))));
}

/** What became of the secret before: the second one of the answer's `secrets`. */
function oldSecretIn({ secrets }: Json): string {
  const [, old] = secrets as readonly Json[];
  return old === undefined
    ? 'No other secret is good any more.'
    : `The secret before is good until ${cell(old['ends'])}; any other has ended.`;
}

/** A history under headings. */
export function historyTable(entries: readonly Json[]): string {
  return table(
    ['at', 'by', 'action', 'changed'],
    entries.map(({ at, actor, action, changed }) => [cell(at), cell(actor), cell(action), changesIn(changed)]),
  );
}

/** `plan: free → pro, name: My app` */
function changesIn(changed: unknown): string {
  const one = (value: unknown): string => {
    const step = value as { readonly from?: unknown; readonly to?: unknown } | null;
    return typeof step === 'object' && step !== null && 'from' in step && 'to' in step
      ? `${cell(step.from)} → ${cell(step.to)}`
      : cell(value);
  };
  const fields = Object.entries(changed as Json).filter(([, value]) => value !== null);
  return fields.length === 0 ? '-' : fields.map(([field, value]) => `${field}: ${one(value)}`).join(', ');
}

export function dayIn(date: unknown): string {
  return typeof date === 'string' ? date.slice(0, 10) : '-';
}

const EXAMPLES = `
Examples:
  petgate keys create --plan free --name "My app"
  petgate keys create --plan enterprise --name "Big shop" --minute 5000 --day unlimited
  petgate keys create --customer 8hK2mQ0z --name "Their batch job"
  petgate keys list --plan pro --json
  petgate keys change 3hT9sQ0aZk1B --plan pro
  petgate keys rotate 3hT9sQ0aZk1B --overlap 24h
  petgate keys grant 3hT9sQ0aZk1B --day 500 --until 2027-01-31 --note "launch"
  petgate keys create --plan free --name "Old app" --import < key.txt
  petgate keys import old-keys.jsonl
  petgate keys export --hashes --output keys.jsonl`;
