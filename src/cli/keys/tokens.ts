import { Command, Option } from 'commander';
import type { Role } from '../../gateway/store/records/admin-token.js';
import type { AdminClient, Connect, Json } from '../client.js';
import { CommandError } from '../command-error.js';
import { listIn } from '../client.js';
import { cell, keyValues, say, sayJson, styled, table } from '../output.js';
import { pathOf } from './fields.js';

/** Listed here, because the image of pets has this command line and no gateway. */
const ROLES = Object.keys({ read: true, billing: true, keys: true, operator: true } satisfies Record<Role, true>);
const COLUMNS = ['id', 'name', 'role', 'state', 'created', 'by', 'expires'];

export function tokensCommand(connect: Connect): Command {
  const tokens = new Command('tokens')
    .description('make, find and revoke tokens of the admin API')
    .addHelpText('after', EXAMPLES);
  createCommand(tokens, connect);
  tokens
    .command('list')
    .description('list admin tokens')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: true }) => {
      const found = await listed(await connect());
      if (json === true) sayJson({ tokens: found });
      else if (found.length === 0) say('No admin tokens but the one of the environment.');
      else say(table(COLUMNS, found.map(rowOf)));
    });
  tokens
    .command('show <id>')
    .description('show one admin token')
    .option('--json', 'print JSON')
    .action(async (id: string, { json }: { json?: true }) =>
      showToken(await (await connect()).ask('GET', pathOf(id, 'tokens')), json),
    );
  revokeCommand(tokens, connect);
  return tokens;
}

function createCommand(tokens: Command, connect: Connect): void {
  tokens
    .command('create')
    .description('make an admin token; it is shown once')
    .requiredOption('--name <name>', 'whose it is; stands in the history of what it changes')
    .addOption(new Option('--role <role>', 'what it may do').choices(ROLES).makeOptionMandatory())
    .option('--expires <date>', '2027-01-31, 2027-01-31T12:00:00Z, or never')
    .option('--json', 'print JSON')
    .action(async ({ json, expires, ...fields }: { name: string; role: string; expires?: string; json?: true }) => {
      const end = expires === undefined ? {} : { expires: expires === 'never' ? null : expires };
      const made = await (await connect()).ask('POST', '/admin/v1/tokens', { ...fields, ...end });
      if (json !== true)
        say(`Token created. It is shown only this once:\n\n  ${styled('bold', cell(made['token']))}\n`);
      showToken(made, json);
    });
}

function revokeCommand(tokens: Command, connect: Connect): void {
  tokens
    .command('revoke [id]')
    .description('end an admin token at once, and forget it')
    .option('--expired', 'forget all that have ended by themselves, instead of one')
    .action(async (id: string | undefined, { expired }: { expired?: true }) => {
      if ((id === undefined) === (expired === undefined))
        throw new CommandError('Give the id of a token, or --expired for all that have ended.', 2);
      const client = await connect();
      const ids = id === undefined ? await expiredIn(client) : [id];
      for (const each of ids) await client.ask('DELETE', pathOf(each, 'tokens'));
      say(id === undefined ? goneOf(ids.length) : `Token ${id} is revoked.`);
    });
}

function goneOf(count: number): string {
  return count === 1 ? '1 expired token is gone.' : `${count} expired tokens are gone.`;
}

function rowOf(token: Json): readonly string[] {
  return COLUMNS.map((column) => cell(token[column]));
}

async function listed(client: AdminClient): Promise<readonly Json[]> {
  return listIn(await client.ask('GET', '/admin/v1/tokens'), 'tokens');
}

async function expiredIn(client: AdminClient): Promise<readonly string[]> {
  return (await listed(client)).filter(({ state }) => state === 'expired').map(({ id }) => String(id));
}

function showToken(token: Json, json: true | undefined): void {
  if (json === true) sayJson(token);
  else say(keyValues(COLUMNS.map((name) => [name, cell(token[name])])));
}

const EXAMPLES = `
Roles:
  read      sees keys and bans
  billing   sees usage and reports
  keys      also makes and changes keys and bans
  operator  everything, tokens too
Examples:
  petgate tokens create --name "Billing run" --role billing --expires 2027-01-31
  petgate tokens list
  petgate tokens revoke 3hT9sQ0aZk1B
  petgate tokens revoke --expired`;
