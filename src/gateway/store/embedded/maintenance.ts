import type { Addresses } from './records/addresses.js';
import { packRecord } from './journal/record.js';
import type { Stores } from './owner/stores.js';
import type { Sweep } from './sweep.js';
import { attempt, translating } from './files/errors.js';

/** Interval of syncs: a power cut loses at most this much, plus the time that the disk needs. */
const SYNC_MS = 500;
const SWEEP_MS = 10_000;
/** When to fold: by age, subjects or bytes. Bounds the journal, which is held in memory and read at the start. */
const FOLD_MS = 30_000;
const FOLD_SUBJECTS = 131_072;
const FOLD_BYTES = 32 * 1_048_576;
/** The bytes are at most the map's size divided by this. */
const FOLD_PART = 16;

/** Background work of an open engine: syncs, folds, sweeps, and a clean shutdown. */
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
  /** Store time at the last admission; 0 before the first. Sweeps measure age by it. */
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
      // Admissions continue; `check` reports it, and the next round tries again.
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

  /** Rejects if the store cannot write: now, or at the last sync or fold. */
  async check(): Promise<void> {
    this.#stores.checkFolder();
    await attempt(this.#stores, () => {
      this.#stores.journalCapacity.check();
      this.#stores.journal.probe(packRecord(0, [], null));
    });
    if (this.#syncFailure !== undefined) throw this.#syncFailure as Error;
    if (this.#failure !== undefined) throw this.#failure as Error;
  }

  /** Folds the journal and closes everything. Rejects with StoreUnavailable if that fails. */
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
