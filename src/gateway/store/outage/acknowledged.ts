import { COUNTS, noCounts } from '../counts.js';
import type { UsageCounts, UsageRow } from '../port.js';
import type { Stores } from '../embedded/files/stores.js';
import { rowOf } from '../embedded/ledger/day-ledger.js';
import { SEPARATOR } from '../embedded/files/rows.js';
import { packCounts } from '../embedded/journal/entry.js';
import { removeDaysBefore } from '../embedded/sweep.js';
import { inTransaction } from '../embedded/files/errors.js';

/** What Redis has acknowledged of the ledger here, row by row. */
export class AcknowledgedCounts {
  readonly #stores: Stores;

  constructor(stores: Stores) {
    this.#stores = stores;
  }

  /** What Redis may not have of a row yet; null when it has all. */
  missing(row: UsageRow): UsageCounts | null {
    const acknowledged = this.of(row);
    const missing = noCounts();
    for (const field of COUNTS) missing[field] = Math.max(0, row[field] - acknowledged[field]);
    return COUNTS.some((field) => missing[field] > 0) ? missing : null;
  }

  /** Redis has these rows. On disk when the promise ends. */
  async acknowledge(rows: readonly UsageRow[]): Promise<void> {
    const { durable } = this.#stores;
    await inTransaction(this.#stores, () => {
      // Another process may have got further with the same row.
      for (const row of rows) if (this.missing(row) !== null) durable.putSync(nameOf(row), packCounts(row));
    });
  }

  /** Forgets days before `day`, a part of them at each call. All of them must be in Redis. */
  async forgetBefore(day: string): Promise<void> {
    const { durable } = this.#stores;
    await inTransaction(this.#stores, () => {
      for (const kind of ['u', 'q']) removeDaysBefore(durable, kind, day);
    });
  }

  /** What Redis has acknowledged of a row. */
  of(row: UsageRow): UsageCounts {
    const name = nameOf(row);
    const bytes = this.#stores.durable.getBinary(name);
    return bytes === undefined ? noCounts() : rowOf(name, bytes);
  }
}

/** Named as the ledger row it is about. */
function nameOf({ day, key, plan, operation }: UsageRow): string {
  return `q${[day, key, plan, operation].join(SEPARATOR)}`;
}
