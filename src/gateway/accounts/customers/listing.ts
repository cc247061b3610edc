import type { CustomerRecord, CustomerStore } from '../../store/records/customer.js';
import { scan } from '../listing.js';
import { KeyRefused } from '../refused.js';
import { isCustomerId } from '../token.js';

/** Which customers to list; what is left out doesn't matter. */
export interface CustomerFilter {
  /** The whole of it. */
  readonly reference?: string;
}

/** `cursor` is null after the last page. A page may be short, even empty, and not be the last. */
export interface CustomerPage {
  readonly customers: readonly CustomerRecord[];
  readonly cursor: string | null;
}

/** Up to `count` customers with an id after `cursor` that pass `filter`, by id. */
export async function scanCustomers(
  store: CustomerStore,
  { reference }: CustomerFilter,
  cursor: string | null,
  count: number,
): Promise<CustomerPage> {
  const isWanted = reference === undefined ? null : (record: CustomerRecord) => record.reference === reference;
  const page = await scan((afterId, most) => store.page(afterId, most), isWanted, cursor, count);
  return { customers: page.records, cursor: page.cursor };
}

/**
 * The customer of this id, else the one of this reference. Rejects with KeyRefused when there is none, and when two
 * or more have the reference.
 */
export async function findCustomer(store: CustomerStore, idOrReference: string): Promise<CustomerRecord> {
  const named = isCustomerId(idOrReference) ? await store.read(idOrReference) : undefined;
  if (named !== undefined) return named;
  const found: CustomerRecord[] = [];
  let cursor: string | null = null;
  do {
    const page: CustomerPage = await scanCustomers(store, { reference: idOrReference }, cursor, 2 - found.length);
    found.push(...page.customers);
    ({ cursor } = page);
  } while (cursor !== null && found.length < 2);
  const [customer, other] = found;
  if (customer === undefined) throw new KeyRefused('no_customer', ['no customer has this id or reference']);
  if (other !== undefined)
    throw new KeyRefused('conflict', [
      `customers ${customer.id} and ${other.id} both have this reference: give the id of one`,
    ]);
  return customer;
}
