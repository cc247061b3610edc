import type { Addresses } from './addresses.js';
import { packRecord } from './journal/record.js';
import type { Stores } from './files/stores.js';
import type { Sweep } from './sweep.js';
import { attempt, translating } from './files/errors.js';

/** Half of the second that a power cut may cost: the other half is for the disk. */
const SYNC_MS = 500;
const SWEEP_MS = 10_000;
/** How far the journal grows, at most: so much has to be read when a process starts, and is held in memory. */
const FOLD_MS = 30_000;
const FOLD_SUBJECTS = 131_072;
const FOLD_BYTES = 32 * 1_048_576;
/** … but never more than this part of the bound. */
const FOLD_PART = 16;

/** What an open engine does by itself: syncs, folds, sweeps, and the orderly end. */
export class Maintenance {
  readonly #stores: Stores;
  readonly #sweep: Sweep;
  readonly #addresses: Addresses;
  readonly #timer: NodeJS.Timeout;
  #round: Promise<void> = Promise.resolve();
  #failure: unknown;
  #syncFailure: unknown;
  #sweptAtMs = performance.now();
  #foldedAtMs = performance.now();
  #closed = false;
  /** The store's time at the last admission; 0 before the first. A sweep measures age by it. */
  nowMs = 0;

  constructor(stores: Stores, sweep: Sweep, addresses: Addresses) {
    this.#stores = stores;
    this.#sweep = sweep;
    this.#addresses = addresses;
    let isBusy = false;
    this.#timer = setInterval(() => {
      void this.#sync();
      if (isBusy) return;
      isBusy = true;
      this.#round = this.#tend().finally(() => (isBusy = false));
    }, SYNC_MS).unref();
  }

  async #sync(): Promise<void> {
    this.#syncFailure = await translating(this.#stores, () => this.#stores.journal.sync()).then(
      () => undefined,
      (error: unknown) => error,
    );
  }

  /** Folds and sweeps. */
  async #tend(): Promise<void> {
    const { fold } = this.#stores;
    try {
      this.#stores.checkFolder();
      if (this.#isFoldDue()) {
        this.#foldedAtMs = performance.now();
        await fold.run();
      } else {
        await fold.takeOver();
      }
      if (this.nowMs > 0 && performance.now() - this.#sweptAtMs >= SWEEP_MS) {
        this.#sweptAtMs = performance.now();
        await this.#sweep.run(this.nowMs);
        await this.#addresses.recount();
      }
      this.#failure = undefined;
    } catch (error) {
      // Admissions go on; `check` reports it, and the next round tries again.
      this.#failure = error;
    }
  }

  #isFoldDue(): boolean {
    const { journal, memory, mapBytes } = this.#stores;
    if (memory.unfoldedCount === 0) return false;
    return (
      performance.now() - this.#foldedAtMs >= FOLD_MS ||
      memory.unfoldedCount >= FOLD_SUBJECTS ||
      journal.bytes >= Math.min(FOLD_BYTES, mapBytes / FOLD_PART)
    );
  }

  /** Rejects when the store could not write: now, or when it last synced or folded. */
  async check(): Promise<void> {
    this.#stores.checkFolder();
    await attempt(this.#stores, () => {
      this.#stores.journalCapacity.check();
      this.#stores.journal.probe(packRecord(0, [], null));
    });
    if (this.#syncFailure !== undefined) throw this.#syncFailure as Error;
    if (this.#failure !== undefined) throw this.#failure as Error;
  }

  /** Folds what is not in the file yet and closes all. Rejects with StoreUnavailable if that failed. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#round;
    try {
      await this.#stores.fold.run();
    } finally {
      await this.#stores.close();
    }
  }
}
