import { eraseCustomer } from '../../accounts/keys/erase.js';
import { isCustomerId } from '../../accounts/token.js';
import type { CustomerRecord } from '../../store/records/customer.js';
import { listed, listing, ofCustomers } from '../input/query.js';
import { Customer, CustomerChange, CustomerPage, NewCustomer } from '../schemas.js';
import { action, type Action } from '../action.js';
import { dayIn, type Json } from '../command.js';
import { accountActions, statusForms } from './common.js';
import { exportOfCustomer } from './export.js';
import { customerViews } from './views.js';

const CUSTOMERS = '/admin/v1/customers';
const EXAMPLE = 'Ab3dE6gH';

export const CUSTOMER_ACTIONS: readonly Action[] = [
  action(`GET ${CUSTOMERS}`, 'any', 'List customers, by ID or by age', {
    commands: {
      usage: 'customers list',
      example: '--reference crm-4711',
      prints: {
        list: 'customers',
        columns: ['id', 'name', 'reference', 'plan', 'status', dayIn('created')],
        none: ({ reference }) => (reference === undefined ? 'No customers.' : 'No customer has this reference.'),
      },
    },
    query: { ...ofCustomers, ...listing(isCustomerId) },
    gives: CustomerPage,
    handle: async ({ parts, query }) => {
      const { records, cursor } = await listed(parts.registry.customers, query);
      return { json: { customers: await customerViews(parts, records), cursor } };
    },
  }),
  action(`POST ${CUSTOMERS}`, 'keys', 'Create a customer, whose keys share a plan', {
    commands: { usage: 'customers create', example: '--name "Acme" --plan pro --reference crm-4711' },
    takes: NewCustomer,
    status: 201,
    gives: Customer,
    handle: async ({ parts, body, actor }) => {
      const [json] = await customerViews(parts, [await parts.registry.customers.create(body, actor)]);
      return { json: json! };
    },
  }),
  ...accountActions<CustomerRecord>({
    name: 'customer',
    example: EXAMPLE,
    change: {
      commands: { usage: 'customers change <id>', example: `${EXAMPLE} --plan business` },
      forms: [
        ...statusForms(
          '/customers/{id}',
          {
            ...{ button: 'Disable, with all its keys', opens: 'Disable', isDanger: true },
            done: 'Disabled: its keys are refused from the next request on.',
          },
          'Enabled: its keys may be used from the next request on.',
        ),
        {
          on: '/customers/{id}',
          name: 'changed',
          button: 'Change',
          opens: 'Change',
          fields: ['name', 'reference', 'plan', 'limits', 'note'],
          isFor: isOpen,
          done: 'Changed. It applies from the next request.',
        },
      ],
    },
    end: {
      word: 'close',
      form: {
        ...{ name: 'closed', button: 'Close permanently, with all its keys', opens: 'Close' },
        done: 'Closed permanently, with all its keys.',
      },
      ended: 'Customer {id} is closed.',
      erased: 'Name, reference and notes of customer {id} and of its keys are erased.',
    },
    hasEnded: (customer) => !isOpen(customer),
    isId: isCustomerId,
    path: `${CUSTOMERS}/{id}`,
    reader: 'any',
    registry: ({ registry }) => registry.customers,
    takes: CustomerChange,
    gives: Customer,
    view: async (parts, record) => (await customerViews(parts, [record]))[0]!,
    close: ({ registry }, id, actor) => registry.customers.close(id, actor),
    exported: exportOfCustomer,
    erase: eraseCustomer,
  }),
];

function isOpen({ status }: Json): boolean {
  return status !== 'closed';
}
