import type { UsageCounts } from '../../port.js';
import { noteBan } from './ban-index.js';
import { labelOf } from './label.js';
import { bannedRow, journalRow, keyRow, stateRow, usageRow } from './rows.js';
import { copyOf } from './store.js';
import type { Stores } from './stores.js';
import { SubjectRow } from './subject-row.js';

/**
 * The working set of one transaction on `recent`: each row is read once, inside the write lock that
 * all processes share, and written once at the end. Changed key rows are named in the journal in the
 * same transaction, which is what lets any process bring `durable` up to date after any kill.
 */
export class Turn {
  readonly #stores: Stores;
  readonly #keys = new Map<string, SubjectRow>();
  readonly #addresses = new Map<string, SubjectRow>();
  /** Ends of bans to be noted, by the row of the subject. */
  readonly #bans = new Map<string, number>();

  constructor(stores: Stores) {
    this.#stores = stores;
    // What another process put there before this moment has to be seen.
    stores.durable.resetReadTxn();
  }

  /** What is remembered of a key. Written at the end when its `changed` is set. */
  key(id: string): SubjectRow {
    let row = this.#keys.get(id);
    if (row === undefined) {
      row = new SubjectRow(copyOf(this.#stores.recent, keyRow(id)) ?? copyOf(this.#stores.durable, stateRow(id)));
      this.#keys.set(id, row);
    }
    return row;
  }

  /** The same for a row of `recent` that holds an address. */
  address(name: string): SubjectRow {
    let row = this.#addresses.get(name);
    if (row === undefined) {
      row = new SubjectRow(copyOf(this.#stores.recent, name));
      this.#addresses.set(name, row);
    }
    return row;
  }

  /** Counts one for the ledger in a key's row, on the day of `atMs`. */
  count(row: SubjectRow, keyId: string, plan: string, operation: string, atMs: number, field: keyof UsageCounts): void {
    row.changed = true;
    const label = labelOf(atMs, plan, operation);
    row.count(label.bytes, field, () => copyOf(this.#stores.durable, usageRow(keyId, label.text)));
  }

  /** A subject was refused by a ban: it is among those in force, also when the machine was restarted since. */
  banned(subject: string, untilMs: number, started: boolean): void {
    if (started || this.#stores.recent.getBinaryFast(bannedRow(subject)) === undefined) this.#bans.set(subject, untilMs);
  }

  /** Writes all changes, as the last thing in the transaction. Throws StoreUnavailable when there is no room. */
  finish(): void {
    const { recent, recentRoom } = this.#stores;
    const keys = [...this.#keys].filter(([, row]) => row.changed);
    const addresses = [...this.#addresses].filter(([, row]) => row.changed);
    if (keys.length + addresses.length + this.#bans.size === 0) return;
    recentRoom.claim();
    for (const [name, row] of addresses) recent.putSync(name, row.packed());
    for (const [subject, untilMs] of this.#bans) noteBan(recent, subject, untilMs);
    let journal = '';
    for (const [id, row] of keys) {
      recent.putSync(keyRow(id), row.packed());
      journal += `${id}\n`;
    }
    if (journal !== '') recent.putSync(journalRow(recent.getWriteTxnId()), Buffer.from(journal));
  }
}
