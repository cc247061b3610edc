import type { UsageCounts } from '../../port.js';
import { journalRow, keyRow, stateRow, usageLabel, usageRow } from './rows.js';
import type { Store, Stores } from './stores.js';
import { SubjectRow } from './subject-row.js';

/** Labels as bytes; cleared when it has grown, which takes months of new days. */
const labels = new Map<string, Buffer>();
const LABELS_MOST = 10_000;

/**
 * The working set of one transaction on `recent`: each row is read once, inside the write lock that
 * all processes share, and written once at the end. Changed key rows are named in the journal in the
 * same transaction, which is what lets any process bring `durable` up to date after any kill.
 */
export class Turn {
  readonly #stores: Stores;
  readonly #rows = new Map<string, SubjectRow>();
  readonly #changed = new Set<string>();

  constructor(stores: Stores) {
    this.#stores = stores;
    // What another process put there before this moment has to be seen.
    stores.durable.resetReadTxn();
  }

  /** What is remembered of a key, to be changed in place; counts only after `change`. */
  key(id: string): SubjectRow {
    const name = keyRow(id);
    return this.#rows.get(name) ?? this.#load(name, () => copyOf(this.#stores.durable, stateRow(id)));
  }

  /** The same for a row of `recent` that holds an address. */
  address(name: string): SubjectRow {
    return this.#rows.get(name) ?? this.#load(name, () => undefined);
  }

  changeKey(id: string): SubjectRow {
    this.#changed.add(keyRow(id));
    return this.key(id);
  }

  changeAddress(name: string): SubjectRow {
    this.#changed.add(name);
    return this.address(name);
  }

  /** Counts one for the ledger in a changed key's row, on the day of `atMs`. */
  count(row: SubjectRow, keyId: string, plan: string, operation: string, atMs: number, field: keyof UsageCounts): void {
    const label = usageLabel(atMs, plan, operation);
    row.count(bytesOf(label), field, () => copyOf(this.#stores.durable, usageRow(keyId, label)));
  }

  /** Writes all changes, as the last thing in the transaction. */
  finish(): void {
    if (this.#changed.size === 0) return;
    const { recent } = this.#stores;
    let journal = '';
    for (const name of this.#changed) {
      const row = this.#rows.get(name);
      if (row !== undefined) recent.putSync(name, row.packed());
      if (name.startsWith('r')) journal += `${name.slice(1)}\n`;
    }
    if (journal !== '') recent.putSync(journalRow(recent.getWriteTxnId()), Buffer.from(journal));
  }

  #load(name: string, seed: () => Buffer | undefined): SubjectRow {
    const row = new SubjectRow(copyOf(this.#stores.recent, name) ?? seed());
    this.#rows.set(name, row);
    return row;
  }
}

function bytesOf(label: string): Buffer {
  let bytes = labels.get(label);
  if (bytes === undefined) {
    if (labels.size >= LABELS_MOST) labels.clear();
    bytes = Buffer.from(label);
    labels.set(label, bytes);
  }
  return bytes;
}

/** lmdb answers from one buffer that the next read overwrites. */
function copyOf(store: Store, name: string): Buffer | undefined {
  const bytes = store.getBinaryFast(name);
  if (bytes === undefined) return undefined;
  const copy = Buffer.allocUnsafe(bytes.length);
  copy.set(bytes.subarray(0, copy.length));
  return copy;
}
