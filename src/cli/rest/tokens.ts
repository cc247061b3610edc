import type { Command } from 'commander';
import { listIn, type Connect } from '../client.js';
import { group, type Rows } from './command.js';
import { done, issued, list, record, recordOf } from './show.js';

const COLUMNS = ['id', 'name', 'role', 'state', 'created', 'by', 'expires'];

const ROWS: Rows = {
  create: [
    'make an admin token; it is shown once',
    'POST tokens',
    issued('Token created.', 'token', (made) => recordOf(made, COLUMNS)),
    'name! role! expires',
  ],
  list: ['list admin tokens', 'GET tokens', list('tokens', COLUMNS, 'No admin tokens but the one of the environment.')],
  'show <id>': ['show one admin token', 'GET tokens/{id}', record(COLUMNS)],
  'revoke [id]': [
    'end an admin token immediately and forget it',
    'DELETE tokens/{id}',
    done(({ id }, { ids }) => (id === undefined ? gone((ids as string[]).length) : `Token ${id} is revoked.`)),
    '',
    {
      bulk: {
        flag: '--expired',
        about: 'revoke all that have expired, instead of one',
        either: 'of a token, or --expired for all that have ended',
        ids: async (client) =>
          listIn(await client.ask('GET', '/admin/v1/tokens'), 'tokens')
            .filter(({ state }) => state === 'expired')
            .map(({ id }) => String(id)),
      },
    },
  ],
};

export function tokensCommand(connect: Connect): Command {
  return group(connect, 'tokens', 'make, find and revoke tokens of the admin API', ROWS, EXAMPLES);
}

function gone(count: number): string {
  return count === 1 ? '1 expired token is gone.' : `${count} expired tokens are gone.`;
}

const EXAMPLES = `
Roles:
  read      sees keys and bans
  billing   sees usage, reports with the names in them, and customers
  keys      also makes and changes keys and bans
  operator  everything, tokens too
Examples:
  petgate tokens create --name "Billing run" --role billing --expires 90d
  petgate tokens list
  petgate tokens revoke 3hT9sQ0aZk1B
  petgate tokens revoke --expired`;
