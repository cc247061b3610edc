import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Price } from '../../admission/plan.js';
import type { Accounts } from '../../store/ledger.js';
import type { AuditEntry } from '../../store/records/record.js';
import { withRetry } from '../../store/records/retry.js';
import type { Account } from './accounts.js';
import type { Part } from './bill.js';

/** Payers whose history is read in one turn of the event loop. */
const AT_ONCE = 32;

export type WithHistory<Sums> = Account<Sums> & { readonly history: readonly AuditEntry[] };

/** Each payer with what tells its plans of a month, some at a time. */
export async function* withHistory<Sums>(
  found: AsyncIterable<readonly Account<Sums>[]>,
  accounts: Accounts,
): AsyncGenerator<readonly WithHistory<Sums>[]> {
  const read = (some: readonly Account<Sums>[]): Promise<readonly WithHistory<Sums>[]> =>
    Promise.all(some.map(async (account) => ({ ...account, history: await historyOf(account, accounts) })));
  let waiting: Account<Sums>[] = [];
  for await (const some of found) {
    waiting.push(...some);
    if (waiting.length < AT_ONCE) continue;
    yield await read(waiting);
    waiting = [];
    await nextTurn();
  }
  yield await read(waiting);
}

/** Also of a record that never changed: only its history says when it was imported. */
async function historyOf(
  { id, record }: Account<unknown>,
  { keys, customers }: Accounts,
): Promise<readonly AuditEntry[]> {
  if (record === undefined) return [];
  return withRetry(() => ('secrets' in record ? keys : customers).history(id));
}

/**
 * Of a payer's parts those to be told: none of who owes nothing and was not counted; of a plan without a price only the
 * days that have counts.
 * @param counted by plan, with the days that have counts
 */
export function reportable(
  parts: readonly Part[],
  prices: ReadonlyMap<string, Price | null>,
  counted: ReadonlyMap<string, { has(day: string): boolean }>,
  days: readonly string[],
): readonly Part[] {
  const isSaid = ({ plan, day, price }: Part): boolean =>
    price !== null || !prices.has(plan) || counted.get(plan)?.has(days[day]!) === true;
  const isOwed = ({ plan, price, amount }: Part): boolean => (price === null ? !prices.has(plan) : amount !== 0n);
  return counted.size > 0 || parts.some(isOwed) ? parts.filter(isSaid) : [];
}
