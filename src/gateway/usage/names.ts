import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Accounts } from '../store/ledger.js';
import { CUSTOMER_ID_LENGTH } from '../store/records/customer-id.js';
import { withRetry } from '../store/records/retry.js';
import type { ReportRow } from './grouping/groups.js';
import { labelsOf, type ReportRange } from './grouping/range.js';

/** Records to read per turn of the event loop, which serves traffic too when the store is embedded. */
const AT_ONCE = 32;

interface Known {
  readonly name: string;
  /** The customer's reference. */
  readonly reference?: string;
}

/** Adds names and references to the rows of a report, if its range has them. */
export async function* namedRows(
  range: ReportRange,
  batches: AsyncIterable<readonly ReportRow[]>,
  accounts?: Accounts,
): AsyncGenerator<readonly ReportRow[], void> {
  const isAsked = labelsOf(range).some((label) => label === 'name' || label === 'reference');
  for await (const rows of batches) yield accounts !== undefined && isAsked ? await withNames(rows, accounts) : rows;
}

/** Returns the rows with names and references; empty if the record is gone or erased. */
export async function withNames(rows: readonly ReportRow[], accounts: Accounts): Promise<readonly ReportRow[]> {
  const ids = rows.flatMap(({ key, customer }) => [key, customer]).filter((id) => id !== undefined);
  const known = await readKnown([...new Set(ids)], accounts);
  const of = (id = ''): Known => known.get(id) ?? { name: '' };
  return rows.map((row) => ({
    ...row,
    ...(row.reference === undefined ? {} : { reference: of(row.customer).reference ?? '' }),
    ...(row.name === undefined ? {} : { name: of(row.key ?? row.customer).name }),
    ...(row.customerName === undefined ? {} : { customerName: of(row.customer).name }),
  }));
}

async function readKnown(ids: readonly string[], { keys, customers }: Accounts): Promise<ReadonlyMap<string, Known>> {
  const known = new Map<string, Known>();
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const page = ids.slice(from, from + AT_ONCE).map(async (id) => {
      const found = await withRetry<Known | undefined>(() =>
        id.length === CUSTOMER_ID_LENGTH ? customers.read(id) : keys.read(id),
      );
      if (found !== undefined) known.set(id, found);
    });
    await Promise.all(page);
    await nextTurn();
  }
  return known;
}
