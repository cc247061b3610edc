import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Accounts } from '../store/ledger.js';
import { CUSTOMER_ID_LENGTH } from '../store/records/customer-id.js';
import { withRetry } from '../store/records/retry.js';
import type { ReportRow } from './grouping/groups.js';

/** Records to read per turn of the event loop, which serves traffic too when the store is embedded. */
const AT_ONCE = 32;

interface Known {
  readonly name: string;
  /** The customer's reference. */
  readonly reference?: string;
}

const NOBODY: Known = { name: '' };

/** Looks up the keys and customers of a report. Keeps nothing between calls. */
export class Names {
  readonly #accounts: Accounts;

  constructor(accounts: Accounts) {
    this.#accounts = accounts;
  }

  /** Returns the rows with names and references; empty if the record is gone or erased. */
  async added(rows: readonly ReportRow[]): Promise<readonly ReportRow[]> {
    const known = await this.#read(
      rows.flatMap(({ key, customer }) => [key, customer]).filter((id) => id !== undefined),
    );
    const of = (id: string | undefined): Known => known.get(id ?? '') ?? NOBODY;
    return rows.map((row) => ({
      ...row,
      ...(row.reference === undefined ? {} : { reference: of(row.customer).reference ?? '' }),
      ...(row.name === undefined ? {} : { name: of(row.key ?? row.customer).name }),
      ...(row.customerName === undefined ? {} : { customerName: of(row.customer).name }),
    }));
  }

  async #read(asked: readonly string[]): Promise<ReadonlyMap<string, Known>> {
    const { keys, customers } = this.#accounts;
    const ids = [...new Set(asked)];
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
}
