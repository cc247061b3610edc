import { action } from '../accounts/account.js';
import { banIn } from '../accounts/ban-form.js';
import { changeIn } from '../accounts/change.js';
import { correctionAction } from '../accounts/corrections.js';
import { grantActions } from '../accounts/grants.js';
import { page, type Page } from '../page.js';
import { createCustomer, NewCustomerForm } from './create.js';
import { listCustomers } from './list.js';
import { CUSTOMER } from './one.js';

const CUSTOMERS = '/admin/v1/customers';
const CHANGE = `PATCH ${CUSTOMER.api}`;

/** Customers: all, one, and a new one. */
export const CUSTOMER_PAGES: readonly Page[] = [
  page('GET /customers', `GET ${CUSTOMERS}`, 'Customers', { menu: 'Customers', serve: listCustomers }),
  page('GET /customers/new', `POST ${CUSTOMERS}`, 'Create a customer', {
    serve: (visit) => ({ content: <NewCustomerForm visit={visit} /> }),
  }),
  page('POST /customers', `POST ${CUSTOMERS}`, 'Create a customer', { serve: createCustomer }),
  page('GET /customers/{id}', `GET ${CUSTOMER.api}`, 'Customer', { serve: (visit) => CUSTOMER.show(visit, []) }),
  action(CUSTOMER, { name: 'changed', line: CHANGE, title: 'Change a customer', body: changeIn }),
  action(CUSTOMER, { name: 'enabled', line: CHANGE, title: 'Enable a customer', body: () => ({ status: 'enabled' }) }),
  action(CUSTOMER, {
    name: 'disabled',
    line: CHANGE,
    title: 'Disable a customer',
    body: () => ({ status: 'disabled' }),
  }),
  action(CUSTOMER, {
    name: 'banned',
    line: `PUT ${CUSTOMER.api}/bans`,
    title: 'Ban all keys of a customer',
    body: ({ form }) => banIn(form),
  }),
  action(CUSTOMER, { name: 'lifted', line: `DELETE ${CUSTOMER.api}/bans`, title: 'Lift the bans of a customer' }),
  action(CUSTOMER, { name: 'closed', line: `DELETE ${CUSTOMER.api}`, title: 'Close a customer' }),
  correctionAction(CUSTOMER),
  ...grantActions(CUSTOMER),
];
