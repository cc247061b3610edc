import type { Command } from 'commander';
import type { Connect } from '../client.js';
import { CommandError } from '../command-error.js';
import { group, type Rows } from './command.js';
import { done, list, pages, record, type Values } from './show.js';

const COLUMNS = ['key', 'until', 'level', 'by', 'reason'];
const OF_CUSTOMER = list('bans', COLUMNS, (_, { customer = '' }) => `Customer ${customer} has no keys to ban.`);

const ROWS: Rows = {
  list: [
    'list the bans of keys in force; those of addresses without a key end by themselves and are not listed',
    'GET bans',
    pages('bans', COLUMNS, 'No bans.'),
  ],
  'start [id]': [
    'ban a key from now on, or all keys that a customer has now and that are not revoked',
    (values) => `PUT ${banned(values)}`,
    { text: (started, values) => (values['id'] === undefined ? OF_CUSTOMER : record()).text(started, values) },
    'customer for! reason',
  ],
  'lift [id]': [
    'end a ban, and forget what led to it; or those of every key of a customer',
    (values) => `DELETE ${banned(values)}`,
    done(({ id, customer = '' }) =>
      id === undefined ? `The bans of customer ${customer} are lifted.` : `The ban of key ${id} is lifted.`,
    ),
    'customer',
  ],
};

export function bansCommand(connect: Connect): Command {
  return group(connect, 'bans', 'see, start and lift bans of keys', ROWS, EXAMPLES);
}

/** The ban of a key, or those of all keys of a customer: one of the two has to be said. */
function banned({ id, customer }: Values): string {
  if ((id === undefined) === (customer === undefined))
    throw new CommandError('Give either the id of a key or --customer with the id of a customer.', 2);
  return id === undefined ? 'customers/{customer}/bans' : 'bans/{id}';
}

const EXAMPLES = `
Examples:
  petgate bans list
  petgate bans start 3hT9sQ0aZk1B --for 1h --reason "runs in a loop"
  petgate bans start --customer 8hK2mQ0z --for 1h
  petgate bans lift 3hT9sQ0aZk1B`;
