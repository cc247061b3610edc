import { Command } from 'commander';
import type { Connect } from '../client.js';
import { pourTo } from '../transfer/files.js';
import { group, segment, type Rows } from './command.js';
import { grants } from './grants.js';
import { dayIn, done, HISTORY, pages, record } from './show.js';

const COLUMNS = ['id', 'name', 'reference', 'plan', 'status', dayIn('created')];

const ROWS: Rows = {
  create: [
    'create a customer; create its keys with petgate keys create --customer',
    'POST customers',
    record(),
    'name! plan! minute day month reference note',
  ],
  list: [
    'list customers, ordered by id; with --search the newest first',
    'GET customers',
    pages('customers', COLUMNS, (_, { reference }) =>
      reference === undefined ? 'No customers.' : 'No customer has this reference.',
    ),
    'search reference limit',
  ],
  'show <id>': ['show one customer', 'GET customers/{id}', record()],
  'change <id>': [
    'change a customer; takes effect on the next request of each of its keys',
    'PATCH customers/{id}',
    record(),
    'name plan status minute day month reference note',
  ],
  'close <id>': [
    'close a customer and all its keys permanently',
    'DELETE customers/{id}',
    done('Customer {id} is closed.'),
  ],
  'erase <id>': [
    'erase name, reference and notes of a closed customer and of its keys permanently; ids and usage stay',
    'POST customers/{id}/erase',
    done('Name, reference and notes of customer {id} and of its keys are erased.'),
  ],
  'history <id>': ['show the changes of a customer', 'GET customers/{id}/history', HISTORY],
  ...grants('customers', 'a customer'),
};

export function customersCommand(connect: Connect): Command {
  const about = 'create, find, change and close customers, whose keys share a plan';
  return group(connect, 'customers', about, ROWS, EXAMPLES).addCommand(exportCommand(connect));
}

function exportCommand(connect: Connect): Command {
  return new Command('export')
    .description('print everything stored about a customer and its keys, as JSON')
    .argument('<id>')
    .option('--output <file>', 'write to this file, readable only by you; it appears once it is complete')
    .action(async (id: string, { output }: { output?: string }) =>
      pourTo(connect, `/admin/v1/customers/${segment(id)}/export`, output),
    );
}

const EXAMPLES = `
Examples:
  petgate customers create --name "Big shop" --plan pro --reference C-1042
  petgate customers list --reference C-1042
  petgate keys create --customer 8hK2mQ0z --name "Their web shop"
  petgate customers change 8hK2mQ0z --plan business
  petgate customers grant 8hK2mQ0z --day 500 --until 2027-01-31
  petgate usage report --by customer --format csv
  petgate customers close 8hK2mQ0z`;
