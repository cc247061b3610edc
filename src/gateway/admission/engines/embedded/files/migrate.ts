import { rangeOf, stateRow, usageRow } from './rows.js';
import type { Store } from './store.js';
import { COUNTS_BYTES } from '../log/key-entry.js';
import { STATE_BYTES } from '../log/subject-state.js';

const LENGTH_BYTES = 2;

/**
 * Brings over what a version before the log left in `recent`: rows `r` of keys, a state and then labels with
 * their counts, of which those that `durable` lacks are named in rows `j`. Several processes may do so at once:
 * none of them admits before the rows are gone.
 */
export function migrate(recent: Store, durable: Store): void {
  const isOld = (): boolean =>
    [...recent.getKeys({ ...rangeOf('j'), limit: 1 }), ...recent.getKeys({ ...rangeOf('r'), limit: 1 })].length > 0;
  if (!isOld()) return;
  durable.transactionSync(() => {
    recent.resetReadTxn();
    for (const id of unsavedIn(recent)) save(durable, id, recent.getBinary(`r${id}`));
  });
  recent.transactionSync(() => {
    for (const kind of ['j', 'r']) for (const name of [...recent.getKeys(rangeOf(kind))]) recent.removeSync(name);
  });
}

function unsavedIn(recent: Store): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { value } of recent.getRange(rangeOf('j')))
    for (const id of value.toString().trimEnd().split('\n')) ids.add(id);
  return ids;
}

function save(durable: Store, id: string, row: Buffer | undefined): void {
  if (row === undefined) return;
  durable.putSync(stateRow(id), row.subarray(0, STATE_BYTES));
  for (let at = STATE_BYTES; at < row.length;) {
    const labelAt = at + LENGTH_BYTES;
    const countsAt = labelAt + row.readUInt16LE(at);
    at = countsAt + COUNTS_BYTES;
    durable.putSync(usageRow(id, row.toString('utf8', labelAt, countsAt)), row.subarray(countsAt, at));
  }
}
