import type { Addresses } from './records/addresses.js';
import { packRecord } from './journal/record.js';
import type { Stores } from './owner/stores.js';
import type { Sweep } from './sweep.js';
import { attempt } from './files/errors.js';

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
interface Maintenance {
  /** Store time at the last admission; 0 before the first. Sweeps measure age by it. */
  nowMs: number;
  /** Rejects if the store cannot write: now, or at the last sync or fold. */
  check(): Promise<void>;
  /** Folds the journal and closes everything. Rejects with StoreUnavailable if that fails. */
  close(): Promise<void>;
}

export function maintain(stores: Stores, sweep: Sweep, addresses: Addresses): Maintenance {
  const { fold } = stores;
  let [sweptAtMs, foldedAtMs] = [performance.now(), performance.now()];
  let [isBusy, isClosed] = [false, false];
  let [failure, syncFailure]: unknown[] = [];
  let round = Promise.resolve();

  const sync = async (): Promise<void> => {
    syncFailure = await attempt(stores, () => stores.journal.sync()).then(
      () => undefined,
      (error: unknown) => error,
    );
  };
  const isFoldDue = (): boolean => {
    const { journal, memory, mapBytes } = stores;
    if (memory.unfoldedCount === 0) return false;
    return (
      performance.now() - foldedAtMs >= FOLD_MS ||
      memory.unfoldedCount >= FOLD_SUBJECTS ||
      journal.bytes >= Math.min(FOLD_BYTES, mapBytes / FOLD_PART)
    );
  };
  const tend = async (): Promise<void> => {
    try {
      stores.checkFolder();
      if (isFoldDue()) {
        foldedAtMs = performance.now();
        await fold.run();
      } else {
        await fold.takeOver();
      }
      if (maintenance.nowMs > 0 && performance.now() - sweptAtMs >= SWEEP_MS) {
        sweptAtMs = performance.now();
        await sweep(maintenance.nowMs);
        await addresses.recount();
      }
      failure = undefined;
    } catch (error) {
      // Admissions continue; `check` reports it, and the next round tries again.
      failure = error;
    }
  };
  const timer = setInterval(() => {
    void sync();
    if (isBusy) return;
    isBusy = true;
    round = tend().finally(() => (isBusy = false));
  }, SYNC_MS).unref();
  const maintenance: Maintenance = {
    nowMs: 0,
    async check() {
      stores.checkFolder();
      await attempt(stores, () => {
        stores.journalCapacity.claim(true);
        stores.journal.probe(packRecord(0, [], null));
      });
      if (syncFailure !== undefined) throw syncFailure as Error;
      if (failure !== undefined) throw failure as Error;
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      clearInterval(timer);
      await round;
      try {
        await fold.run();
      } finally {
        await stores.close();
      }
    },
  };
  return maintenance;
}
