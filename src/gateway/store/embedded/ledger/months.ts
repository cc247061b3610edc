import { monthStartMs } from '../../../../shared/utc-month.js';
import { MAX_LIMIT } from '../../../admission/bucket.js';
import { payerOf } from '../../records/customer-id.js';
import { StoreUnavailable } from '../../../admission/port.js';
import { AFTER_ALL, MONTHS, SEPARATOR, usageRow } from '../files/rows.js';
import { putDouble } from '../files/store.js';
import type { Stores } from '../files/stores.js';
import { attempt, inTransaction } from '../files/errors.js';
import { dayOf } from './day.js';
import { rowOf } from './day-ledger.js';
import type { Checkpoint } from '../log/checkpoint.js';
import { transact } from '../log/transaction.js';

/** Keys and customers in one transaction, which is one row of the log. */
const AT_ONCE = 500;

/**
 * Versions before counted months on some plans only: once, when a store of theirs is opened, what was spent of the
 * month is taken from the ledger. Before the first admission; a kill, or a disk that is full, means that it is done again.
 */
export function beginMonths(stores: Stores, checkpoint: Checkpoint): void {
  const { durable } = stores;
  if (durable.getBinary(MONTHS) !== undefined) return;
  const atMs = monthStartMs(Date.now());
  void attempt(stores, () => takeOver(stores, atMs))
    .then(() => checkpoint.save())
    .then(() => inTransaction(stores, () => putDouble(durable, MONTHS, atMs)))
    .catch((error: unknown) => {
      if (!(error instanceof StoreUnavailable)) throw error;
    });
}

function takeOver(stores: Stores, atMs: number): void {
  const spent = [...unitsSince(stores, dayOf(atMs))];
  for (let start = 0; start < spent.length; start += AT_ONCE)
    transact(stores, (transaction) => {
      transaction.reserve();
      for (const [payer, units] of spent.slice(start, start + AT_ONCE)) {
        const entry = transaction.key(payer);
        Object.assign(entry.state.month, { level: Math.min(units, MAX_LIMIT), atMs });
        transaction.change(entry);
      }
    });
}

/** What the ledger has of each day from `first` on, by who pays: the rows of `durable`, and over them what the log says. */
function unitsSince({ durable, memtable }: Stores, first: string): ReadonlyMap<string, number> {
  const rows = new Map<string, { readonly key: string; readonly units: number }>();
  for (const { key, value } of durable.getRange({ start: `u${first}${SEPARATOR}`, end: `u${AFTER_ALL}` }))
    rows.set(key, rowOf(key, value));
  for (const { id, slots } of memtable.unmerged())
    for (const { label, counts, changedBy } of slots)
      if (changedBy > memtable.mergedTo && label.day >= first)
        rows.set(usageRow(id, label.text), { key: id, units: counts.units });
  const units = new Map<string, number>();
  for (const row of rows.values()) units.set(payerOf(row.key), (units.get(payerOf(row.key)) ?? 0) + row.units);
  return units;
}
