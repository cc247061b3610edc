import { Customer, NewCustomer } from '../../actions/schemas.js';
import { createPages } from '../forms/create.js';
import { page, pathOf, type Page } from '../visit/page.js';
import { listCustomers } from './list.js';
import { showCustomer } from './one.js';

const CUSTOMERS = '/admin/v1/customers';
const CREATE = `POST ${CUSTOMERS}`;

export const CUSTOMER_PAGES: readonly Page[] = [
  page('GET /customers', `GET ${CUSTOMERS}`, 'Customers', { menu: 'Customers', serve: listCustomers }),
  ...createPages({
    ...{ path: '/customers', line: CREATE, takes: NewCustomer, title: 'Create a customer' },
    ...{ main: ['name', 'plan', 'reference'], more: ['limits', 'note'], summary: 'Limits, note' },
    create: async ({ api }, body) => ({ to: pathOf('/customers', (await api.ask(Customer, CREATE, { body })).id) }),
  }),
  page('GET /customers/{id}', `GET ${CUSTOMERS}/{id}`, 'Customer', { serve: showCustomer }),
];
