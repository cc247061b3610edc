import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Payer } from '../../accounts/plans/days.js';
import type { UsageRow } from '../../store/records/counts.js';
import type { Accounts } from '../../store/ledger.js';
import { CUSTOMER_ID_LENGTH, customerOf, payerOf } from '../../store/records/customer-id.js';
import { withRetry } from '../../store/records/retry.js';
import { Stream } from '../archive/stream.js';
import type { Ledger } from '../grouping/groups.js';
import type { ReportRange } from '../grouping/range.js';

const PAGE = 256;

/** A payer with the sums of its ledger rows. */
export interface Account<Sums> {
  readonly id: string;
  /** Absent if the payer is only in the ledger. */
  record?: Payer;
  readonly sums: Sums;
}

/** How to sum up a payer's rows. A customer may have millions, so each is added as it arrives. */
export interface Summing<Sums> {
  begin(): Sums;
  add(sums: Sums, row: UsageRow): void;
}

/**
 * Yields all payers with counts or a record, by ID. Ledger and records arrive in the order of IDs, and a customer and
 * its keys share a prefix, so only the payers of one prefix are in memory at a time.
 */
export async function* accountsIn<Sums>(
  { customer, key }: Pick<ReportRange, 'customer' | 'key'>,
  ledger: Ledger,
  { keys, customers }: Accounts,
  summing: Summing<Sums>,
): AsyncGenerator<readonly Account<Sums>[]> {
  const rows = new Stream(ledger);
  const one = customer ?? key;
  const known: readonly Stream<Payer>[] =
    one === undefined
      ? [new Stream(pagesOf(customers.page)), new Stream(pagesOf(keys.page, isPayer))]
      : [new Stream(only(await withRetry<Payer | undefined>(() => (one === customer ? customers : keys).read(one))))];
  for (;;) {
    const heads = [
      (await rows.peek())?.key,
      ...(await Promise.all(known.map(async (each) => (await each.peek())?.id))),
    ];
    const beginnings = heads.filter((head) => head !== undefined).map(beginningOf);
    if (beginnings.length === 0) return;
    const first = beginnings.reduce((least, one) => (one < least ? one : least));
    const found = new Map<string, Account<Sums>>();
    const accountOf = (id: string): Account<Sums> => {
      const account = found.get(id) ?? { id, sums: summing.begin() };
      found.set(id, account);
      return account;
    };
    for (const records of known)
      await records.takeWhile(
        ({ id }) => beginningOf(id) === first,
        (record) => (accountOf(record.id).record = record),
      );
    await rows.takeWhile(
      ({ key }) => beginningOf(key) === first,
      (row) => summing.add(accountOf(payerOf(row.key)).sums, row),
    );
    yield [...found.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }
}

function beginningOf(id: string): string {
  return id.slice(0, CUSTOMER_ID_LENGTH);
}

function isPayer({ id }: Payer): boolean {
  return customerOf(id) === null;
}

async function* only(record: Payer | undefined): AsyncGenerator<readonly Payer[]> {
  await Promise.resolve();
  if (record !== undefined) yield [record];
}

async function* pagesOf<R extends Payer>(
  read: (afterId: string | null, count: number) => Promise<readonly R[]>,
  isWanted: (record: R) => boolean = () => true,
): AsyncGenerator<readonly R[]> {
  for (let afterId: string | null = null; ;) {
    const from = afterId;
    const page: readonly R[] = await withRetry(() => read(from, PAGE));
    yield page.filter(isWanted);
    if (page.length < PAGE) return;
    afterId = page.at(-1)!.id;
    await nextTurn();
  }
}
