import { randomInt } from 'node:crypto';
import { KeyEntry, packCounts } from './key-entry.js';
import { unpackRow } from './row.js';
import { COPIED_MARK, LOG_ID, rangeOf, stateRow, usageRow } from '../files/rows.js';
import { doubleIn, putDouble, type Store } from '../files/store.js';
import { packState } from '../../subject-state.js';

/**
 * The copy of the log in `durable`, for the case that the machine loses `recent`. A mark says of which log it is
 * and how far it goes: what came before that and isn't in it is merged already.
 */
interface Files {
  readonly recent: Store;
  readonly durable: Store;
}
const MARK_BYTES = 16;
const MAX_ID = 2 ** 47;

/** The last transaction of which the row in the log was copied, or merged; 0 before the first. */
export function readCopied({ recent, durable }: Files): number {
  const mark = durable.getBinary(COPIED_MARK);
  return mark !== undefined && mark.readDoubleLE() === doubleIn(recent, LOG_ID) ? mark.readDoubleLE(8) : 0;
}

/** In a transaction on `durable`: the log is copied up to a transaction. */
export function markCopied({ recent, durable }: Files, transaction: number): void {
  const mark = Buffer.allocUnsafe(MARK_BYTES);
  mark.writeDoubleLE(doubleIn(recent, LOG_ID));
  mark.writeDoubleLE(transaction, 8);
  durable.putSync(COPIED_MARK, mark);
}

/**
 * In a transaction on `durable`: writes the rows of a key, of its counts those that changed after the transaction
 * `after`.
 */
export function saveEntry(durable: Store, { id, state, slots }: KeyEntry, after: number): void {
  durable.putSync(stateRow(id), packState(state));
  for (const { label, counts, changedBy } of slots)
    if (changedBy > after) durable.putSync(usageRow(id, label.text), packCounts(counts));
}

/**
 * Names the log of a `recent` that is new, and merges the copy of another one's log: that is gone, with all that
 * was not copied. Several processes may do so at once: none of them admits before it is done.
 */
export function recover(files: Files): void {
  const { recent, durable } = files;
  recent.transactionSync(() => {
    if (doubleIn(recent, LOG_ID) === 0) putDouble(recent, LOG_ID, randomInt(1, MAX_ID));
  });
  if (!isOfAnother(files)) return;
  durable.transactionSync(() => {
    if (!isOfAnother(files)) return;
    const entries = new Map<string, KeyEntry>();
    for (const { key, value } of [...durable.getRange(rangeOf('l'))]) {
      for (const { id, state, slots } of unpackRow(value)) {
        const entry = entries.get(id) ?? new KeyEntry(id, state);
        entry.state = state;
        for (const { label, counts } of slots) entry.put(label, counts, 1);
        entries.set(id, entry);
      }
      durable.removeSync(key);
    }
    for (const entry of entries.values()) saveEntry(durable, entry, 0);
    durable.removeSync(COPIED_MARK);
  });
}

function isOfAnother({ recent, durable }: Files): boolean {
  recent.resetReadTxn();
  durable.resetReadTxn();
  const mark = durable.getBinary(COPIED_MARK);
  return mark !== undefined && mark.readDoubleLE() !== doubleIn(recent, LOG_ID);
}
