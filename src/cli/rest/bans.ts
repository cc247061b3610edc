import type { Command } from 'commander';
import type { Connect } from '../client.js';
import { CommandError } from '../command-error.js';
import { group, type Rows } from './command.js';
import { done, list, pages, record, type Values } from './show.js';

const COLUMNS = ['key', 'until', 'level', 'by', 'reason'];
const OF_KEYS = pages('bans', COLUMNS, 'No bans.');
const OF_ADDRESSES = pages('bans', ['address', 'until', 'level'], 'No bans of addresses.');
const OF_CUSTOMER = list('bans', COLUMNS, (_, { customer = '' }) => `Customer ${customer} has no keys to ban.`);

const ROWS: Rows = {
  list: [
    'list the bans of keys in force, or those of addresses without a valid key',
    ({ addresses }) => (addresses === undefined ? 'GET bans' : 'GET bans/addresses'),
    {
      ...OF_KEYS,
      text: (page, values) => (values['addresses'] === undefined ? OF_KEYS : OF_ADDRESSES).text(page, values),
    },
    'addresses',
  ],
  'start [id]': [
    'ban a key from now on, or all keys that a customer has now and that are not revoked',
    (values) => `PUT ${banned(values)}`,
    { text: (started, values) => (values['id'] === undefined ? OF_CUSTOMER : record()).text(started, values) },
    'customer for! reason',
  ],
  'lift [id]': [
    'lift the ban of a key or an address and forget what led to it; or of every key of a customer',
    (values) => `DELETE ${isAddress(values) ? 'bans/addresses/{id}' : banned(values)}`,
    done(({ id, customer = '' }) =>
      id === undefined
        ? `The bans of customer ${customer} are lifted.`
        : `The ban of ${isAddress({ id }) ? '' : 'key '}${id} is lifted.`,
    ),
    'customer',
  ],
};

export function bansCommand(connect: Connect): Command {
  return group(connect, 'bans', 'see, start and lift bans', ROWS, EXAMPLES);
}

/** No id of a key has such a character. */
function isAddress({ id = '' }: Values): boolean {
  return /[.:~]/.test(id);
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
  petgate bans lift 3hT9sQ0aZk1B
  petgate bans list --addresses
  petgate bans lift 2001:db8:7:1::/64`;
