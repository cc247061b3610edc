import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Price } from '../../admission/plan.js';
import type { Accounts } from '../../store/ledger.js';
import type { AuditEntry } from '../../store/records/record.js';
import { withRetry } from '../../store/records/retry.js';
import type { Account } from './accounts.js';
import { dayCharges, type DayCharge } from './bill.js';

/** Payers whose history is read in one turn of the event loop. */
const AT_ONCE = 32;

export type WithHistory<Sums> = Account<Sums> & { readonly history: readonly AuditEntry[] };

/** Adds each payer's history, which shows its plans. Yields batches. */
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

/** Reads the history even of a record that never changed: only it shows when the record was imported. */
async function historyOf(
  { id, record }: Account<unknown>,
  { keys, customers }: Accounts,
): Promise<readonly AuditEntry[]> {
  if (record === undefined) return [];
  return withRetry(() => ('secrets' in record ? keys : customers).history(id));
}

/** A payer's month, to be billed. */
interface Billed<Day> {
  /** Its plan at the end of each day; null if it had none. */
  readonly planOf: readonly (string | null)[];
  readonly days: readonly string[];
  /** By plan, the days with counts. */
  readonly counted: ReadonlyMap<string, ReadonlyMap<string, Day>>;
  readonly prices: ReadonlyMap<string, Price | null>;
}

/**
 * Returns what to report as owed: nothing if the payer owes nothing and has no counts; for a plan without a price, only
 * days with counts. A part of a plan that `prices` lacks is always reported, as unknown.
 * @param unitsOf units of a day to bill, including corrections
 */
export function chargesOf<Day>(
  { planOf, days, counted, prices }: Billed<Day>,
  unitsOf: (its: Day, plan: string, day: string) => number,
): readonly DayCharge[] {
  const units = [...counted].map(
    ([plan, its]) => [plan, days.map((day) => (its.has(day) ? unitsOf(its.get(day)!, plan, day) : undefined))] as const,
  );
  const parts = dayCharges({ planOf, units: new Map(units) }, prices);
  const isReported = ({ plan, day, price }: DayCharge): boolean =>
    price !== null || !prices.has(plan) || counted.get(plan)?.has(days[day]!) === true;
  const isOwed = ({ plan, price, amount }: DayCharge): boolean => (price === null ? !prices.has(plan) : amount !== 0n);
  return counted.size > 0 || parts.some(isOwed) ? parts.filter(isReported) : [];
}
