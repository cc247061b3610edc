import { eraseCustomer } from '../../accounts/erase.js';
import { isCustomerId } from '../../accounts/token.js';
import type { CustomerRecord } from '../../store/records/customer.js';
import { listed, listing, ofReference } from '../input/query.js';
import { Customer, CustomerChange, CustomerPage, NewCustomer } from '../openapi/schemas.js';
import { route, type Route } from '../route.js';
import { accountRoutes } from './accounts.js';
import { exportOfCustomer } from './export.js';
import { customerView } from './views.js';

const CUSTOMERS = '/admin/v1/customers';

export const CUSTOMER_ROUTES: readonly Route[] = [
  route(`GET ${CUSTOMERS}`, 'any', 'Lists customers by id or by age, page by page', {
    query: { ...ofReference, ...listing(isCustomerId) },
    gives: CustomerPage,
    handle: async ({ parts: { registry }, query }) => {
      const { records, cursor } = await listed(registry.customers, query);
      const nowMs = await registry.nowMs();
      return { json: { customers: records.map((record) => customerView(record, nowMs)), cursor } };
    },
  }),
  route(`POST ${CUSTOMERS}`, 'keys', 'Creates a customer', {
    takes: NewCustomer,
    status: 201,
    gives: Customer,
    handle: async ({ parts: { registry }, body, actor }) => ({
      json: customerView(await registry.customers.create(body, actor), await registry.nowMs()),
    }),
  }),
  ...accountRoutes<CustomerRecord>({
    name: 'customer',
    path: `${CUSTOMERS}/{id}`,
    reader: 'any',
    registry: ({ registry }) => registry.customers,
    takes: CustomerChange,
    gives: Customer,
    view: async ({ registry }, record) => customerView(record, await registry.nowMs()),
    end: async ({ registry }, id, actor) => {
      await registry.customers.close(id, actor);
    },
    exported: exportOfCustomer,
    erase: eraseCustomer,
  }),
];
