import type { AuditEntry } from '../../records/key.js';
import type { ImportUnderWay, IncomingKey } from '../../port.js';
import { historyRange, historyRow, IMPORT_MARK, recordRow, RECORDS_VERSION, stagedRow } from '../files/rows.js';
import { putDouble } from '../files/store.js';
import type { Store } from '../files/store.js';

/** The mark of the import there is. */
export interface Mark {
  readonly id: string;
  readonly phase: ImportUnderWay['phase'];
  /** Silent for longer than until then, it is abandoned. */
  readonly untilMs: number;
}
/** A key that waits for the commit of its import, or to be put in place after it. */
export interface StagedKey extends IncomingKey {
  readonly importId: string;
}

export function markIn(durable: Store): Mark | undefined {
  const bytes = durable.getBinary(IMPORT_MARK);
  return bytes === undefined ? undefined : (JSON.parse(bytes.toString()) as Mark);
}

export function stagedIn(durable: Store, keyId: string): StagedKey | undefined {
  const bytes = durable.getBinary(stagedRow(keyId));
  return bytes === undefined ? undefined : (JSON.parse(bytes.toString()) as StagedKey);
}

/** The record of a key whose import is committed but which isn't in its place yet. */
export function committedBytes(durable: Store, keyId: string): Buffer | undefined {
  const staged = stagedIn(durable, keyId);
  return staged !== undefined && isCommitted(durable, staged) ? Buffer.from(JSON.stringify(staged.record)) : undefined;
}

/** In a transaction: puts the key in its place. False, and nothing done, when its import isn't committed. */
export function place(durable: Store, staged: StagedKey): boolean {
  if (!isCommitted(durable, staged)) return false;
  const { record, entry } = staged;
  durable.putSync(historyRow(record.id, record.version), Buffer.from(JSON.stringify(entry)));
  durable.putSync(recordRow(record.id), Buffer.from(JSON.stringify(record)));
  durable.removeSync(stagedRow(record.id));
  return true;
}

/** In a transaction: the history of a key or a customer is this from now on, its last entry that of `version`. */
export function replaceHistory(durable: Store, id: string, version: number, history: readonly AuditEntry[]): void {
  const rows = [...durable.getKeys(historyRange(id))];
  for (const [place, entry] of history.entries())
    durable.putSync(rows[place] ?? historyRow(id, version), Buffer.from(JSON.stringify(entry)));
}

/** In a transaction that changes what records say: whoever keeps some looks at them again. */
export function recordsChanged(durable: Store): void {
  putDouble(durable, RECORDS_VERSION, durable.getWriteTxnId());
}

function isCommitted(durable: Store, { importId }: StagedKey): boolean {
  const mark = markIn(durable);
  return mark?.id === importId && mark.phase === 'committed';
}
