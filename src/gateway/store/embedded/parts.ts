import type { Journal } from './journal/journal.js';
import type { Memory } from './journal/memory.js';
import type { Capacity } from './files/capacity.js';
import type { Store } from './files/store.js';

/** What is open of a store, for what works on it (stores.ts). */
export interface Parts {
  readonly folder: string;
  readonly durable: Store;
  readonly durableCapacity: Capacity;
  readonly journal: Journal;
  readonly memory: Memory;
  /** Why nothing is decided; null while all is well. */
  readonly broken: string | null;
  /** Whether that is for good. */
  readonly isGone: boolean;
  recordsVersion: number;
  write<Result>(work: (durable: Store) => Result): Promise<Result>;
  checkFolder(): void;
  reopen(reason: string): void;
}
