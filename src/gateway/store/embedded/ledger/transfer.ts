import { DAY_MS } from '../../../admission/bucket.js';
import { COUNTS, type UsageRow } from '../../records/counts.js';
import type { UsageStore } from '../../port.js';
import type { LedgerTransfer } from '../../ledger.js';
import { attempt } from '../files/errors.js';
import type { Stores } from '../owner/stores.js';
import { labelOf } from '../journal/label.js';
import { transact, type Transaction } from '../owner/transaction.js';
import { dayOf } from '../../../../shared/utc-day.js';

/** Rows of one transaction. */
const RAISED_AT_ONCE = 250;

/** Number of raised counts: only this process opens the store. */
let revision = 0;

export function ledgerTransferOf(stores: Stores, usage: UsageStore, usageDays: number): LedgerTransfer {
  return {
    rowsBefore: (day) => {
      const last = Date.parse(day) - DAY_MS;
      return usage.rows(dayOf(last - usageDays * DAY_MS), dayOf(last));
    },
    revision: () => Promise.resolve(revision.toString()),
    async raise(rows) {
      let raised = 0;
      for (let from = 0; from < rows.length; from += RAISED_AT_ONCE) {
        const some = rows.slice(from, from + RAISED_AT_ONCE);
        raised += await attempt(stores, () => transact(stores, (transaction) => raise(transaction, some)));
        // Raised counts are on disk before they are acknowledged.
        await attempt(stores, () => stores.journal.sync());
      }
      return raised;
    },
  };
}

/** Raises counts to at least those of the rows. Returns how many rows grew. */
export function raise(transaction: Transaction, rows: readonly UsageRow[]): number {
  transaction.reserve();
  let raised = 0;
  for (const { key, plan, operation, day, ...given } of rows) {
    const entry = transaction.key(key);
    const slot = transaction.slot(entry, labelOf(Date.parse(day), plan, operation));
    if (COUNTS.every((count) => slot.counts[count] >= given[count])) continue;
    for (const count of COUNTS) slot.counts[count] = Math.max(slot.counts[count], given[count]);
    transaction.changeSlot(entry, slot);
    raised += 1;
    revision += 1;
  }
  return raised;
}
