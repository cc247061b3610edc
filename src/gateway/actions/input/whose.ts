import type { ReportRange } from '../../usage/grouping/range.js';
import type { AdminParts } from '../action.js';
import { invalidQuery } from './query.js';

/** Returns the requested key or customer. An unknown one is a mistake and is refused, not reported without traffic. */
export async function whoseOf(
  { registry }: AdminParts,
  { key, customer }: { readonly key?: string | undefined; readonly customer?: string | undefined },
): Promise<Pick<ReportRange, 'key'> | Pick<ReportRange, 'customer'>> {
  if (key !== undefined && customer !== undefined) throw invalidQuery('Give either key or customer.');
  if (key !== undefined) return { key: (await registry.get(key)).id };
  return customer === undefined ? {} : { customer: (await registry.customers.find(customer)).id };
}
