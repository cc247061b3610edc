import { freshState } from '../../decide.js';
import type { SubjectState } from '../../decide.js';
import { journalRow, packCounts, packState, unpackCounts, unpackState } from './rows.js';
import type { Counts } from './rows.js';
import type { Stores } from './stores.js';

/**
 * The working set of one transaction on `recent`: each row is read once, inside the write lock that
 * all processes share, and written once at the end. Changed rows are named in the journal in the
 * same transaction, which is what lets any process bring `durable` up to date after any kill.
 */
export class Turn {
  readonly #stores: Stores;
  readonly #states = new Map<string, SubjectState>();
  readonly #counts = new Map<string, Counts>();
  readonly #changed = new Set<string>();

  constructor(stores: Stores) {
    this.#stores = stores;
    // What another process put there before this moment has to be seen.
    stores.durable.resetReadTxn();
  }

  /** What is remembered under a state row. Changes count only after `change`. */
  state(row: string): SubjectState {
    let state = this.#states.get(row);
    if (state === undefined) {
      const bytes = this.#stores.recent.getBinaryFast(row) ?? this.#stores.durable.getBinaryFast(row);
      state = bytes === undefined ? freshState() : unpackState(bytes);
      this.#states.set(row, state);
    }
    return state;
  }

  change(row: string): void {
    this.#changed.add(row);
  }

  /** Counts of a usage row, to be added to. */
  counts(row: string): Counts {
    let counts = this.#counts.get(row);
    if (counts === undefined) {
      const bytes = this.#stores.recent.getBinaryFast(row) ?? this.#stores.durable.getBinaryFast(row);
      counts = bytes === undefined ? { requests: 0, limited: 0, banned: 0, failed: 0 } : unpackCounts(bytes);
      this.#counts.set(row, counts);
    }
    this.#changed.add(row);
    return counts;
  }

  /** Writes all changes, as the last thing in the transaction. */
  finish(): void {
    if (this.#changed.size === 0) return;
    const { recent } = this.#stores;
    const journal: string[] = [];
    for (const row of this.#changed) {
      const state = this.#states.get(row);
      const counts = this.#counts.get(row);
      if (state !== undefined) recent.putSync(row, packState(state));
      else if (counts !== undefined) recent.putSync(row, packCounts(counts));
      if (!row.startsWith('a')) journal.push(row);
    }
    if (journal.length > 0) recent.putSync(journalRow(recent.getWriteTxnId()), Buffer.from(journal.join('\n')));
  }
}
