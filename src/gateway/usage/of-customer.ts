import { CUSTOMER_ID_LENGTH, customerOf } from '../store/records/customer-id.js';
import type { UsageRow } from '../store/port.js';

/** The rows of a customer's keys, of rows with keys in the order of their ids. Nothing behind them is read. */
export async function* rowsOfCustomer(
  rows: AsyncIterable<readonly UsageRow[]>,
  customer: string,
): AsyncGenerator<readonly UsageRow[], void> {
  for await (const batch of rows) {
    const own = batch.filter(({ key }) => customerOf(key) === customer);
    if (own.length > 0) yield own;
    if ((batch.at(-1)?.key ?? '').slice(0, CUSTOMER_ID_LENGTH) > customer) return;
  }
}
