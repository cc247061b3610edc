import { COUNTS, noCounts } from '../records/counts.js';
import type { UsageCounts, UsageRow } from '../records/counts.js';
import type { Stores } from '../embedded/stores.js';
import { rowOf } from '../embedded/ledger/day-ledger.js';
import { SEPARATOR } from '../embedded/files/rows.js';
import { packCounts } from '../embedded/journal/entry.js';
import { removeDaysBefore } from '../embedded/sweep.js';
import { inTransaction } from '../embedded/files/errors.js';

/** Remembers which counts of the local ledger Redis has acknowledged, by row. */
export class AcknowledgedCounts {
  readonly #stores: Stores;

  constructor(stores: Stores) {
    this.#stores = stores;
  }

  /** Returns the counts of a row that Redis may not have yet; null if it has all. */
  missing(row: UsageRow): UsageCounts | null {
    const acknowledged = this.of(row);
    const missing = noCounts();
    for (const field of COUNTS) missing[field] = Math.max(0, row[field] - acknowledged[field]);
    return COUNTS.some((field) => missing[field] > 0) ? missing : null;
  }

  /** Notes that Redis has these rows. On disk when the promise resolves. */
  async acknowledge(rows: readonly UsageRow[]): Promise<void> {
    const { durable } = this.#stores;
    await inTransaction(this.#stores, () => {
      // Another process may have acknowledged more of the same row.
      for (const row of rows) if (this.missing(row) !== null) durable.putSync(nameOf(row), packCounts(row));
    });
  }

  /** Deletes days before `day`, some at each call. Redis must have all of them. */
  async forgetBefore(day: string): Promise<void> {
    const { durable } = this.#stores;
    await inTransaction(this.#stores, () => {
      for (const kind of ['u', 'q']) removeDaysBefore(durable, kind, day);
    });
  }

  /** Returns what Redis has acknowledged of a row. */
  of(row: UsageRow): UsageCounts {
    const name = nameOf(row);
    const bytes = this.#stores.durable.getBinary(name);
    return bytes === undefined ? noCounts() : rowOf(name, bytes);
  }
}

/** Named like the ledger row, with `q` in place of its first letter, `u`. */
function nameOf({ day, key, plan, operation }: UsageRow): string {
  return `q${[day, key, plan, operation].join(SEPARATOR)}`;
}
