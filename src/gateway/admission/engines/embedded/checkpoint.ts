import { keyRow, rangeOf, stateRow, usageRow } from './rows.js';
import { slotsOf, stateBytesOf } from './subject-row.js';
import type { Store } from './store.js';
import type { Stores } from './stores.js';
import { translated } from './unavailable.js';

/** Journal rows copied per transaction: bounds how long the files stay locked. */
const JOURNAL_MOST = 2_000;

/** Brings `durable` up to what `recent` holds. Any number of processes may do so at the same time. */
export class Checkpoint {
  readonly #stores: Stores;
  #running: Promise<void> | undefined;
  #waiting: Promise<void> | undefined;

  constructor(stores: Stores) {
    this.#stores = stores;
  }

  /** Whether any process committed something that no checkpoint has saved yet. */
  isDue(): boolean {
    const { recent } = this.#stores;
    recent.resetReadTxn();
    return readJournal(recent, 1).names.length > 0;
  }

  /**
   * When it resolves, all that any process had committed before the call is on disk.
   * The sync happens on a thread of lmdb's, never on the calling one. Rejects with StoreUnavailable.
   */
  run(): Promise<void> {
    if (this.#running === undefined) {
      this.#running = this.#save().finally(() => (this.#running = undefined));
      return this.#running;
    }
    // The one under way may have read the journal already: all callers from now on share the next.
    const again = (): Promise<void> => {
      this.#waiting = undefined;
      return this.run();
    };
    this.#waiting ??= this.#running.then(again, again);
    return this.#waiting;
  }

  async #save(): Promise<void> {
    try {
      let saved: readonly string[];
      do {
        saved = await this.#stores.durable.transaction(() => this.#copy());
        this.#forget(saved);
      } while (saved.length === JOURNAL_MOST);
    } catch (error) {
      throw await translated(this.#stores, error);
    }
  }

  /** Copies the keys the journal names. Read after the lock on `durable` is ours, so that no older copy can land on a newer. */
  #copy(): readonly string[] {
    const { recent, durable, durableRoom } = this.#stores;
    durableRoom.claim();
    recent.resetReadTxn();
    const { names, keyIds } = readJournal(recent, JOURNAL_MOST);
    for (const id of keyIds) {
      const row = recent.getBinary(keyRow(id));
      if (row === undefined) continue;
      putChanged(durable, stateRow(id), stateBytesOf(row));
      for (const { label, counts } of slotsOf(row)) putChanged(durable, usageRow(id, label), counts);
    }
    return names;
  }

  /** Only after the copy is on disk; a kill before this only means that the rows are copied once more. */
  #forget(journal: readonly string[]): void {
    if (journal.length === 0) return;
    const { recent } = this.#stores;
    recent.transactionSync(() => {
      for (const name of journal) recent.removeSync(name);
    });
  }
}

/** The oldest `most` journal rows, and the keys they name. */
export function readJournal(recent: Store, most: number): { readonly names: readonly string[]; readonly keyIds: ReadonlySet<string> } {
  const names: string[] = [];
  const keyIds = new Set<string>();
  for (const { key, value } of recent.getRange({ ...rangeOf('j'), limit: most })) {
    names.push(key);
    for (const id of value.toString('utf8', 0, value.length - 1).split('\n')) keyIds.add(id);
  }
  return { names, keyIds };
}

/** A page that stays as it is need not go to the disk. */
function putChanged(durable: Store, name: string, bytes: Buffer): void {
  const stored = durable.getBinaryFast(name);
  if (stored?.length === bytes.length && bytes.compare(stored, 0, stored.length) === 0) return;
  durable.putSync(name, bytes);
}
