import type { UsageRow } from '../../store/port.js';
import type { Part } from '../../store/ledger.js';
import type { Checksum } from './checksum.js';

/** `held`: the store may still have rows of the day; `moved`: it let go of them. */
export type DayState = 'held' | 'moved';

/** Keeps whole days of the ledger. A day is there once it was read back, and never changes. */
export interface Archive {
  /** Tells this archive from any other. */
  readonly id: string;
  /** The store that it has days of, or is to have; null before the first move. */
  storeId(): Promise<string | null>;
  /**
   * Takes the days of the store with these ids, the first its own, and of no other. Rejects with ArchiveUnavailable.
   */
  bind(storeIds: readonly string[]): Promise<void>;
  /** Another one after each change of what days there are. */
  version(): Promise<string>;
  /** All days that are there: `2026-11-21`. */
  days(): Promise<ReadonlyMap<string, DayState>>;
  /** Rows of these days: keys in the order of their ids, of a key day by day. */
  rows(days: readonly string[], part: Part): AsyncIterable<readonly UsageRow[]>;
  /** Writes a day, makes it durable, and reads it back before it counts as there. False when it is there already. */
  add(day: string, rows: AsyncIterable<readonly UsageRow[]>): Promise<boolean>;
  setState(day: string, state: DayState): Promise<void>;
  /** Reads a day to its end. Rejects with ArchiveDamaged. */
  verify(day: string): Promise<Checksum>;
  /** Forgets a day. */
  drop(day: string): Promise<void>;
  /** Until when nothing is moved, unix ms; 0 where nothing was said. */
  pausedUntilMs(): Promise<number>;
  pause(untilMs: number): Promise<void>;
  /** Does `work` unless another process is at it: then `undefined`. */
  withLock<T>(work: () => Promise<T>): Promise<T | undefined>;
  close(): Promise<void>;
}
