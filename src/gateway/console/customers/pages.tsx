import { page, type Page } from '../visit/page.js';
import { createCustomer, NewCustomerForm } from './create.js';
import { listCustomers } from './list.js';
import { showCustomer } from './one.js';

const CUSTOMERS = '/admin/v1/customers';

export const CUSTOMER_PAGES: readonly Page[] = [
  page('GET /customers', `GET ${CUSTOMERS}`, 'Customers', { menu: 'Customers', serve: listCustomers }),
  page('GET /customers/new', `POST ${CUSTOMERS}`, 'Create a customer', {
    serve: (visit) => ({ content: <NewCustomerForm visit={visit} /> }),
  }),
  page('POST /customers', `POST ${CUSTOMERS}`, 'Create a customer', { serve: createCustomer }),
  page('GET /customers/{id}', `GET ${CUSTOMERS}/{id}`, 'Customer', { serve: (visit) => showCustomer(visit, []) }),
];
