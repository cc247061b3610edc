import type { StoreUnavailable } from '../../admission/port.js';
import type { Addresses } from './addresses.js';
import type { Checkpoint } from './log/checkpoint.js';
import type { Stores } from './files/stores.js';
import type { Sweep } from './sweep.js';
import { attempt } from './files/errors.js';

/** Half of the second that a power cut may cost: the other half is for the disk. */
const CHECKPOINT_MS = 500;
const SWEEP_MS = 10_000;
/** How long the log grows, at most: so much has to be read when a process starts, and held in memory. */
const MERGE_MS = 30_000;
const MERGE_KEYS = 131_072;
const MERGE_BYTES = 32 * 1_048_576;
/** … but never more than this part of the file. */
const MERGE_PART = 16;

/** What an open engine does by itself: checkpoints, sweeps, and the orderly end. */
export class Maintenance {
  readonly #stores: Stores;
  readonly #checkpoint: Checkpoint;
  readonly #sweep: Sweep;
  readonly #addresses: Addresses;
  readonly #timer: NodeJS.Timeout;
  #round: Promise<void> = Promise.resolve();
  #failure: unknown;
  #sweptAtMs = performance.now();
  #mergedTo = 0;
  #mergedAtMs = performance.now();
  #bytesWithoutLog = 0;
  #closed = false;
  /** The store's time at the last admission; 0 before the first. A sweep measures age by it. */
  nowMs = 0;

  constructor(stores: Stores, checkpoint: Checkpoint, sweep: Sweep, addresses: Addresses) {
    this.#stores = stores;
    this.#checkpoint = checkpoint;
    this.#sweep = sweep;
    this.#addresses = addresses;
    let busy = false;
    this.#timer = setInterval(() => {
      if (busy) return;
      busy = true;
      this.#round = this.#tick().finally(() => (busy = false));
    }, CHECKPOINT_MS).unref();
  }

  async #tick(): Promise<void> {
    try {
      this.#stores.checkFolder();
      if (this.#checkpoint.isDue()) await this.#checkpoint.save();
      await this.#merge();
      if (this.nowMs > 0 && performance.now() - this.#sweptAtMs >= SWEEP_MS) {
        this.#sweptAtMs = performance.now();
        await this.#sweep.run(this.nowMs);
      }
      this.#addresses.recount();
      this.#failure = undefined;
    } catch (error) {
      // Admissions go on; `check` reports it, and the next tick tries again.
      this.#failure = error;
    }
  }

  async #merge(): Promise<void> {
    const { memtable, recentCapacity, mapBytes } = this.#stores;
    // So that another process's rows aren't all still to be read when a request waits.
    memtable.refresh();
    if (memtable.mergedTo > this.#mergedTo) this.#merged();
    if (memtable.unmergedCount === 0) return;
    const logBytes = recentCapacity.usedBytes() - this.#bytesWithoutLog;
    if (
      performance.now() - this.#mergedAtMs < MERGE_MS &&
      memtable.unmergedCount < MERGE_KEYS &&
      logBytes < Math.min(MERGE_BYTES, mapBytes / MERGE_PART)
    )
      return;
    await this.#checkpoint.merge();
    this.#merged();
  }

  /** This process or another has just merged. */
  #merged(): void {
    this.#mergedTo = this.#stores.memtable.mergedTo;
    this.#mergedAtMs = performance.now();
    this.#bytesWithoutLog = this.#stores.recentCapacity.usedBytes();
  }

  /** Rejects when the store could not write: now, or at the last checkpoint. */
  async check(): Promise<void> {
    this.#stores.checkFolder();
    await attempt(this.#stores, () => {
      const { recent, recentCapacity } = this.#stores;
      recentCapacity.check();
      recent.transactionSync(() => {
        // The row is there only if it was written, and never stays.
        recent.putSync('z', Buffer.from('probe'));
        recent.removeSync('z');
      });
    });
    if (this.#failure !== undefined) throw this.#failure as StoreUnavailable;
  }

  /** Saves what is not on disk yet and closes both files. Rejects with StoreUnavailable if that saving failed. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#round;
    try {
      await this.#checkpoint.merge();
    } finally {
      await this.#stores.close();
    }
  }
}
