import { isCustomerId } from '../../accounts/token.js';
import type { CustomerRecord } from '../../store/records/customer.js';
import { ofReference, paging } from '../input/query.js';
import { Customer, CustomerChange, CustomerPage, History, NewCustomer } from '../openapi/schemas.js';
import type { Answer } from '../answer.js';
import { handler } from '../route.js';
import type { AdminParts } from '../route.js';
import { grantsView } from './grants.js';
import { entryView } from './keys.js';

export const list = handler({
  query: { ...ofReference, ...paging(isCustomerId) },
  gives: CustomerPage,
  handle: async ({ parts: { registry }, query: { limit, cursor: after, ...filter } }) => {
    const { records, cursor } = await registry.customers.list(filter, after, limit);
    const nowMs = await registry.nowMs();
    return { json: { customers: records.map((record) => viewOf(record, nowMs)), cursor } };
  },
});

export const create = handler({
  takes: NewCustomer,
  status: 201,
  gives: Customer,
  handle: async ({ parts, body, actor }) => shown(parts, await parts.registry.customers.create(body, actor)),
});

export const show = handler({
  gives: Customer,
  handle: async ({ parts, id }) => shown(parts, await parts.registry.customers.get(id)),
});

export const change = handler({
  takes: CustomerChange,
  gives: Customer,
  handle: async ({ parts, id, body, actor }) => shown(parts, await parts.registry.customers.change(id, body, actor)),
});

export const close = handler({
  handle: async ({ parts, id, actor }) => {
    await parts.registry.customers.close(id, actor);
  },
});

export const history = handler({
  gives: History,
  handle: async ({ parts, id }) => ({ json: { history: (await parts.registry.customers.history(id)).map(entryView) } }),
});

async function shown({ registry }: AdminParts, record: CustomerRecord): Promise<Answer> {
  return { json: viewOf(record, await registry.nowMs()) };
}

export function viewOf(record: CustomerRecord, nowMs: number): object {
  const { id, name, reference, plan, status, limits, grants, note, createdAtMs } = record;
  const created = new Date(createdAtMs).toISOString();
  return { id, name, reference, plan, status, limits, grants: grantsView(grants, nowMs), note, created };
}
