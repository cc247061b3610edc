import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { open } from 'lmdb';
import { claimFolder, FolderTaken } from '../../../../shared/files/claim-folder.js';
import type { Log } from '../../../../shared/log.js';
import { StoreUnavailable } from '../../../admission/port.js';
import { foldOf } from '../journal/fold.js';
import { Journal } from '../journal/journal.js';
import { Memory } from '../journal/memory.js';
import { replay } from '../journal/replay.js';
import { capacityOf, usedBytesOf, type Capacity } from '../files/capacity.js';
import { inspectFiles } from '../files/inspect.js';
import type { Store } from '../files/database.js';
import type { OpenFile } from '../files/errors.js';
import { bootIdOf, upgrade } from './upgrade.js';

/** Pause between two attempts to reopen a failed file. */
const RETRY_MS = 1_000;

export interface StoreOptions {
  readonly folder: string;
  /** Maximum size of the file, and of the journal. */
  readonly mapBytes: number;
  /** Tests only: pretends another boot of the machine. */
  readonly bootId?: string;
  /** For messages about failed files. */
  readonly log?: Log | undefined;
}

/**
 * The embedded store of one process, the only one that opens the folder. Admissions are decided in memory. Each batch
 * is appended to the journal before it is acknowledged, so `kill -9` loses nothing. The journal is synced every half
 * second and folded every half minute into `durable.mdb`, whose commits are synced before they are acknowledged. That
 * file has records, the ledger, and everything that is not in memory.
 */
export class Stores implements OpenFile {
  readonly folder: string;
  readonly mapBytes: number;
  readonly memory = new Memory(this);
  readonly fold = foldOf(this);
  readonly journal: Journal;
  readonly journalCapacity: Capacity;
  /** Both are replaced when the file is reopened. */
  durable: Store;
  durableCapacity: Capacity;
  /** Increases with each change of a record, to invalidate decoded copies. */
  recordsVersion = 1;
  /** Appended to each operation in the ledger to distinguish gateways; empty outside outage mode. */
  counter = '';
  /** How often the file failed and was reopened. */
  reopenings = 0;
  broken: string | null = null;
  isGone = false;
  readonly #log: Log | undefined;
  readonly #release: () => void;
  /** Inode of `durable` when it was opened. */
  #inode: number | undefined;
  #reopening: Promise<void> | undefined;
  #closed = false;
  #underWay = 0;

  constructor({ folder, mapBytes, bootId = bootIdOf(), log }: StoreOptions) {
    this.folder = folder;
    this.mapBytes = mapBytes;
    this.#log = log;
    this.#release = claimFolder(folder);
    try {
      [this.durable, this.durableCapacity] = this.#open();
      upgrade(this.durable, folder, bootId, log);
      this.journal = new Journal(folder, this.#replay());
      // The existing journal files contain nothing to fold.
      if (this.memory.unfoldedCount === 0 && !this.memory.hasPending) this.journal.remove(this.journal.rotate());
    } catch (error) {
      this.#release();
      throw error;
    }
    this.journalCapacity = capacityOf(folder, mapBytes, () => this.journal.bytes);
    process.on('exit', this.#killIfLocked);
  }

  /** Runs a transaction on the file; it is on disk when the promise resolves. Rejects with lmdb's error. */
  async write<Result>(work: (durable: Store) => Result): Promise<Result> {
    this.#underWay += 1;
    try {
      return await this.durable.transaction(() => work(this.durable));
    } finally {
      this.#underWay -= 1;
      this.durable.resetReadTxn();
    }
  }

  /** Reads the journal again, because memory differs from what was written. */
  reload(): void {
    this.memory.clear();
    try {
      this.#replay();
    } catch (error) {
      this.reopen(String(error));
    }
  }

  /** Checks that the open file is still in the folder: what is written to a deleted file is lost once it is closed. */
  checkFolder(): void {
    if (this.#closed || this.isGone || this.#inodeNow() === this.#inode) return;
    this.isGone = true;
    this.broken =
      `The data in ${this.folder} was deleted while the gateway ran, so its decisions would be lost. Put the ` +
      'folder back (backup, export), then restart the gateway';
    this.#log?.error({ folder: this.folder, reason: this.broken }, 'the files of the embedded store were deleted');
  }

  /** Reopens a failed file; retries until it succeeds. */
  reopen(reason: string): void {
    this.checkFolder();
    if (this.#closed || this.isGone || this.#reopening !== undefined) return;
    this.broken = reason;
    this.#log?.error({ folder: this.folder, reason }, 'the embedded store failed and is being reopened');
    this.#reopening = this.#retryOpening().finally(() => (this.#reopening = undefined));
  }

  /** Rejects with StoreUnavailable if the file was deleted, which loses what was written to it. */
  async close(): Promise<void> {
    this.checkFolder();
    this.#closed = true;
    await this.#reopening;
    process.off('exit', this.#killIfLocked);
    await this.journal.close();
    await this.durable.close();
    this.#release();
    if (this.isGone) throw new StoreUnavailable(this.broken ?? '');
  }

  async #retryOpening(): Promise<void> {
    while (!this.#closed) {
      await this.durable.close().catch(() => undefined);
      // Opening a deleted file would create an empty one.
      this.checkFolder();
      if (this.isGone) return;
      try {
        [this.durable, this.durableCapacity] = this.#open();
        this.memory.clear();
        this.#replay();
        this.broken = null;
        this.reopenings += 1;
        this.#log?.warn({ folder: this.folder }, 'the embedded store was reopened');
        return;
      } catch (error) {
        this.broken = error instanceof Error ? error.message : String(error);
        await later(RETRY_MS);
      }
    }
  }

  #open(): [Store, Capacity] {
    inspectFiles(this.folder);
    const options = {
      mapSize: this.mapBytes,
      encoding: 'binary' as const,
      // It contains hashes of secrets: only the gateway's own user may read it.
      permissionsMode: 0o600,
      overlappingSync: false,
      // With batching, a failed commit also rejects a promise that nobody awaits, which ends the process.
      eventTurnBatching: false,
    };
    const durable = open<Buffer, string>(join(this.folder, 'durable.mdb'), options);
    this.#inode = this.#inodeNow();
    return [durable, capacityOf(this.folder, this.mapBytes, () => usedBytesOf(durable))];
  }

  /** Returns the number of the last record written. */
  #replay(): number {
    return replay(this.folder, this.durable, this.memory, this.#log);
  }

  #inodeNow(): number | undefined {
    return statSync(join(this.folder, 'durable.mdb'), { throwIfNoEntry: false })?.ino;
  }

  /**
   * Avoids a deadlock: in a transaction, lmdb's thread waits for our callback, and the exit of the process waits for
   * that thread. `kill -9` is harmless.
   */
  readonly #killIfLocked = (): void => {
    if (this.#underWay > 0) process.kill(process.pid, 'SIGKILL');
  };
}

/** Opens the store in `folder`, creating it if needed. Throws StoreUnavailable with what to fix. */
export function openStores(options: StoreOptions): Stores {
  try {
    return new Stores(options);
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    if (error instanceof FolderTaken) throw new StoreUnavailable(error.message, { cause: error });
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreUnavailable(
      `Cannot open the embedded store in ${options.folder} (${reason}). Give the user that runs the gateway a ` +
        'local folder it can write to, with PETGATE_DATA.',
      { cause: error },
    );
  }
}
