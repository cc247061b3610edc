import type { KeyRegistry } from '../../accounts/keys/registry.js';
import { searchable } from '../../accounts/directory.js';
import { customerOf } from '../../store/records/customer-id.js';
import type { ReportRow } from '../../usage/grouping/groups.js';

/**
 * Returns whether a row has this text in its plan, operation or day, or in the name, ID or reference of its key or
 * customer, in any case.
 */
export async function finderOf(
  registry: Pick<KeyRegistry, 'idsWith' | 'customers'>,
  search: string | undefined,
): Promise<(row: ReportRow) => boolean> {
  if (search === undefined) return () => true;
  const text = searchable(search);
  const [keys, customers] = await Promise.all([registry.idsWith(text), registry.customers.idsWith(text)]);
  return ({ key = '', customer = '', plan = '', operation = '', day = '' }) =>
    keys.has(key) ||
    keys.has(customer) ||
    customers.has(customer) ||
    customers.has(customerOf(key) ?? '') ||
    searchable(`${plan}\n${operation}\n${day}\n${key}\n${customer}`).includes(text);
}
