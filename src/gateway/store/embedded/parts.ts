import type { Journal } from './journal/journal.js';
import type { Memory } from './journal/memory.js';
import type { Capacity } from './files/capacity.js';
import type { Store } from './files/store.js';

/** An open store, as its parts see it (stores.ts). */
export interface Parts {
  readonly folder: string;
  readonly durable: Store;
  readonly durableCapacity: Capacity;
  readonly journal: Journal;
  readonly memory: Memory;
  /** Why the store cannot decide; null if it works. */
  readonly broken: string | null;
  /** Whether that is permanent: the file will not be reopened. */
  readonly isGone: boolean;
  recordsVersion: number;
  write<Result>(work: (durable: Store) => Result): Promise<Result>;
  checkFolder(): void;
  reopen(reason: string): void;
}
