import { Command } from 'commander';
import type { Connect, Json } from '../client.js';
import { listIn } from '../client.js';
import { cell, say, sayJson, table } from '../output.js';
import { dayIn, historyTable } from './command.js';
import { countOf, given, limitOptions, limitsOf, pathOf } from './fields.js';
import type { LimitOptions } from './fields.js';
import { grantCommands, recordTable } from './grants.js';
import { pourTo } from './transfer.js';
import { webhookCommand } from './webhooks.js';

interface FieldOptions extends LimitOptions {
  readonly name?: string;
  readonly plan?: string;
  readonly reference?: string;
  readonly note?: string;
  readonly status?: string;
  readonly json?: true;
}

export function customersCommand(connect: Connect): Command {
  const customers = new Command('customers')
    .description('create, find, change and close customers, whose keys share a plan')
    .addHelpText('after', EXAMPLES);
  fieldOptions(
    customers
      .command('create')
      .description('make a customer; then make keys for it with petgate keys create --customer')
      .requiredOption('--name <name>', 'who it is')
      .requiredOption('--plan <plan>', 'free, pro, business, enterprise'),
  ).action(async ({ json, ...options }: FieldOptions) =>
    showCustomer(await (await connect()).ask('POST', '/admin/v1/customers', fieldsOf(options)), json),
  );
  customers
    .command('list')
    .description('list customers, by id')
    .option('--reference <text>', 'only those of this very reference')
    .option('--limit <count>', 'the first so many', countOf)
    .option('--json', 'print JSON')
    .action(async ({ json, limit, reference }: { json?: true; limit?: number; reference?: string }) => {
      const query = new URLSearchParams(reference === undefined ? {} : { reference });
      const found = await (await connect()).askAll('/admin/v1/customers', query, 'customers', limit);
      if (json === true) sayJson({ customers: found });
      else if (found.length > 0) say(customerTable(found));
      else say(reference === undefined ? 'No customers.' : 'No customer has this reference.');
    });
  customers
    .command('show <id>')
    .description('show one customer')
    .option('--json', 'print JSON')
    .action(async (id: string, { json }: { json?: true }) =>
      showCustomer(await (await connect()).ask('GET', pathOf(id, 'customers')), json),
    );
  fieldOptions(
    customers
      .command('change <id>')
      .description('change a customer; holds on the very next request of each of its keys')
      .option('--name <name>', 'a new name')
      .option('--plan <plan>', 'move it to this plan')
      .option('--status <status>', 'disabled refuses all its keys, enabled ends that'),
  ).action(async (id: string, { json, ...options }: FieldOptions) =>
    showCustomer(await (await connect()).ask('PATCH', pathOf(id, 'customers'), fieldsOf(options)), json),
  );
  endCommands(customers, connect);
  grantCommands(customers, connect, 'customers');
  customers.addCommand(webhookCommand(connect));
  return customers;
}

function endCommands(customers: Command, connect: Connect): void {
  customers
    .command('close <id>')
    .description('end a customer with all its keys for ever')
    .action(async (id: string) => {
      await (await connect()).ask('DELETE', pathOf(id, 'customers'));
      say(`Customer ${id} is closed.`);
    });
  customers
    .command('export <id>')
    .description('print all that is stored about a customer and its keys, as JSON')
    .option('--output <file>', 'write to this file instead, readable by you alone, there when it is whole')
    .action(async (id: string, { output }: { output?: string }) =>
      pourTo(connect, `${pathOf(id, 'customers')}/export`, output),
    );
  customers
    .command('erase <id>')
    .description('forget name, reference and notes of a closed customer and of its keys for ever; ids and usage stay')
    .action(async (id: string) => {
      await (await connect()).ask('POST', `${pathOf(id, 'customers')}/erase`);
      say(`Name, reference and notes of customer ${id} and of its keys are erased.`);
    });
  customers
    .command('history <id>')
    .description('what happened to a customer')
    .option('--json', 'print JSON')
    .action(async (id: string, { json }: { json?: true }) => {
      const answer = await (await connect()).ask('GET', `${pathOf(id, 'customers')}/history`);
      if (json === true) sayJson(answer);
      else say(historyTable(listIn(answer, 'history')));
    });
}

function fieldOptions(command: Command): Command {
  return limitOptions(command)
    .option('--reference <text>', 'its id in the billing system')
    .option('--note <text>', 'for operators')
    .option('--json', 'print JSON');
}

function fieldsOf({ name, plan, reference, note, status, ...limits }: FieldOptions): Json {
  return given({ name, plan, reference, note, status, limits: limitsOf(limits) });
}

function showCustomer(customer: Json, json: true | undefined): void {
  if (json === true) sayJson(customer);
  else say(recordTable(customer));
}

function customerTable(found: readonly Json[]): string {
  return table(
    ['id', 'name', 'reference', 'plan', 'status', 'created'],
    found.map(({ id, name, reference, plan, status, created }) => [
      ...[id, name, reference, plan, status].map(cell),
      dayIn(created),
    ]),
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
  petgate customers webhook set 8hK2mQ0z --url https://hooks.shop.example/petgate
  petgate customers close 8hK2mQ0z`;
