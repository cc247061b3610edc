import { AFTER_ALL } from './rows.js';
import type { Store, Stores } from './stores.js';
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
    this.#stores.recent.resetReadTxn();
    return !isEmpty(this.#stores.recent, 'j');
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

  /** Copies the rows the journal names. Read after the lock on `durable` is ours, so that no older copy can land on a newer. */
  #copy(): readonly string[] {
    const { recent, durable } = this.#stores;
    recent.resetReadTxn();
    const journal: string[] = [];
    const rows = new Set<string>();
    for (const { key, value } of recent.getRange({ ...rangeOf('j'), limit: JOURNAL_MOST })) {
      journal.push(key);
      for (const row of value.toString().split('\n')) rows.add(row);
    }
    for (const row of rows) {
      const bytes = recent.getBinary(row);
      if (bytes !== undefined) durable.putSync(row, bytes);
    }
    return journal;
  }

  /** Only after the copy is on disk; a kill before this only means that the rows are copied once more. */
  #forget(journal: readonly string[]): void {
    if (journal.length === 0) return;
    const { recent } = this.#stores;
    recent.transactionSync(() => {
      for (const row of journal) recent.removeSync(row);
    });
  }
}

/** The range of all rows of one kind. */
export function rangeOf(kind: string): { start: string; end: string } {
  return { start: kind, end: kind + AFTER_ALL };
}

/** Whether the store, as now read, has no row of `kind`. */
export function isEmpty(store: Store, kind: string): boolean {
  return Array.from(store.getKeys({ ...rangeOf(kind), limit: 1 })).length === 0;
}
