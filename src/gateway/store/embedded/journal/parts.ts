import type { Capacity } from '../files/capacity.js';
import type { OpenFile } from '../files/errors.js';
import type { Journal } from './journal.js';
import type { Memory } from './memory.js';

/** An open store, as its parts see it (owner/stores.ts). */
export interface Parts extends OpenFile {
  readonly durableCapacity: Capacity;
  readonly journal: Journal;
  readonly memory: Memory;
}
