import { customerOf } from '../../store/records/customer-id.js';
import type { CustomerRecord, CustomerStore } from '../../store/records/customer.js';
import type { KeyRecord } from '../../store/records/key.js';
import type { Body } from '../fields.js';
import type { HeldKey } from '../state.js';
import { isCustomerId } from '../token.js';

/** Maximum number of keys of a customer, including revoked ones. */
const MAX_KEYS = 10_000;
/** Fields that a customer's key takes from its customer, or can't have. */
const NOT_ITS_OWN: Readonly<Record<string, string>> = {
  plan: "is the customer's; leave it out, or change the customer",
  limits: "are the customer's; leave them out, or change the customer",
  key: "a key of another form can't belong to a customer; leave it out to create one",
};

/** Returns the customer of a new key; null if the body names none. Adds a problem if it can't have the key. */
export async function readCustomer(
  store: CustomerStore,
  body: Body,
  problems: string[],
): Promise<CustomerRecord | null> {
  if (!Object.hasOwn(body, 'customer')) return null;
  problems.push(...notItsOwn(body));
  const id = body['customer'];
  const customer = typeof id === 'string' && isCustomerId(id) ? await store.read(id) : undefined;
  if (customer === undefined) problems.push('customer: no customer has this id; petgate customers list shows them');
  else if (customer.status === 'closed') problems.push('customer: is closed, and that is final');
  else if ((await store.keyCount(customer.id)) >= MAX_KEYS)
    problems.push(`customer: already has ${MAX_KEYS} keys, including revoked ones, the most it can have`);
  return customer ?? null;
}

/** Returns a problem for each field of `body` that a customer's key does not have. */
export function notItsOwn(body: Body): readonly string[] {
  return Object.entries(NOT_ITS_OWN)
    .filter(([field]) => Object.hasOwn(body, field))
    .map(([field, why]) => `${field}: ${why}`);
}

/** Returns the records with their effective plan, limits and grants: the customer's, if a key has one. */
export async function withTerms(
  store: Pick<CustomerStore, 'read'>,
  records: readonly KeyRecord[],
): Promise<readonly HeldKey[]> {
  const ids = new Set(records.map(({ id }) => customerOf(id)).filter((id) => id !== null));
  if (ids.size === 0) return records;
  const customers = new Map<string | null, CustomerRecord | undefined>();
  await Promise.all([...ids].map(async (id) => customers.set(id, await store.read(id))));
  return records.map((record) => {
    const customer = customers.get(customerOf(record.id));
    if (customer === undefined) return record;
    const { plan, limits, grants, credited, status: customerStatus } = customer;
    return {
      ...{ ...record, plan, limits, customerStatus },
      ...(grants !== undefined && { grants }),
      ...(credited !== undefined && { credited }),
    };
  });
}
