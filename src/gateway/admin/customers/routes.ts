import type { CustomerRecord } from '../../store/records/customer.js';
import type { CustomerFilter } from '../../accounts/customers/listing.js';
import { isCustomerId } from '../../accounts/token.js';
import type { Answer } from '../answer.js';
import { grantsView } from '../grants.js';
import { entryView } from '../keys.js';
import { readPaging, readReference } from '../input/query.js';
import type { Query } from '../input/query.js';
import type { Call, Route } from '../route.js';
import { CUSTOMER_BAN_ROUTES } from './bans.js';
import { CUSTOMER_WEBHOOK_ROUTES } from './webhook.js';

/** Customers: who pays, on which plan, with which keys. */
export const CUSTOMER_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/admin/v1/customers',
    summary: 'Lists customers by id, page by page',
    role: 'any',
    query: ['reference', 'limit', 'cursor'],
    gives: [200, 'CustomerPage'],
    handle: list,
  },
  {
    method: 'POST',
    path: '/admin/v1/customers',
    summary: 'Creates a customer',
    role: 'keys',
    takes: 'NewCustomer',
    gives: [201, 'Customer'],
    handle: create,
  },
  {
    method: 'GET',
    path: '/admin/v1/customers/{id}',
    summary: 'One customer',
    role: 'any',
    gives: [200, 'Customer'],
    handle: show,
  },
  {
    method: 'PATCH',
    path: '/admin/v1/customers/{id}',
    summary: 'Changes a customer; holds on the next request of each of its keys',
    role: 'keys',
    takes: 'CustomerChange',
    gives: [200, 'Customer'],
    handle: change,
  },
  {
    method: 'DELETE',
    path: '/admin/v1/customers/{id}',
    summary: 'Closes a customer for ever, with all its keys',
    role: 'keys',
    gives: [204],
    handle: close,
  },
  {
    method: 'GET',
    path: '/admin/v1/customers/{id}/history',
    summary: 'Who changed what of a customer, from what, to what, when',
    role: 'any',
    gives: [200, 'History'],
    handle: history,
  },
  ...CUSTOMER_BAN_ROUTES,
  ...CUSTOMER_WEBHOOK_ROUTES,
];

async function list({ parts, query }: Call): Promise<Answer> {
  const { count, cursor: after } = readPaging(query, isCustomerId);
  const { customers, cursor } = await parts.registry.customers.list(readFilter(query), after, count);
  const nowMs = await parts.registry.nowMs();
  return { json: { customers: customers.map((record) => viewOf(record, nowMs)), cursor } };
}

function readFilter(query: Query): CustomerFilter {
  const reference = readReference(query, 'reference');
  return reference === undefined ? {} : { reference };
}

async function create({ parts, body, actor }: Call): Promise<Answer> {
  return shown(parts, await parts.registry.customers.create(body, actor));
}

async function show({ parts, id }: Call): Promise<Answer> {
  return shown(parts, await parts.registry.customers.get(id));
}

async function change({ parts, id, body, actor }: Call): Promise<Answer> {
  return shown(parts, await parts.registry.customers.change(id, body, actor));
}

async function close({ parts, id, actor }: Call): Promise<undefined> {
  await parts.registry.customers.close(id, actor);
}

async function history({ parts, id }: Call): Promise<Answer> {
  const entries = await parts.registry.customers.history(id);
  return { json: { history: entries.map(entryView) } };
}

async function shown({ registry }: Call['parts'], record: CustomerRecord): Promise<Answer> {
  return { json: viewOf(record, await registry.nowMs()) };
}

export function viewOf(record: CustomerRecord, nowMs: number): object {
  const { id, name, reference, plan, status, limits, grants, note, createdAtMs } = record;
  const created = new Date(createdAtMs).toISOString();
  return { id, name, reference, plan, status, limits, grants: grantsView(grants, nowMs), note, created };
}
