import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { open } from 'lmdb';
import { claimFolder, FolderTaken } from '../../../../shared/claim-folder.js';
import type { Log } from '../../../../shared/log.js';
import { StoreUnavailable } from '../../../admission/port.js';
import { Fold } from '../journal/fold.js';
import { Journal } from '../journal/journal.js';
import { Memory } from '../journal/memory.js';
import { replay } from '../journal/replay.js';
import { Capacity, usedBytesOf } from './capacity.js';
import { inspectFiles } from './inspect.js';
import type { Parts } from './parts.js';
import type { Store } from './store.js';
import { bootIdOf, upgrade } from './upgrade.js';

/** Between two tries to open a file that failed. */
const RETRY_MS = 1_000;

export interface StoreOptions {
  readonly folder: string;
  /** Upper bound of what the file holds, and of what the journal does. */
  readonly mapBytes: number;
  /** Tests only: pretends another boot of the machine. */
  readonly bootId?: string;
  /** Where it is said that files failed. */
  readonly log?: Log | undefined;
}

/**
 * The embedded store of one process, the only one that opens the folder. What decides is its memory. Each batch is
 * appended to the journal before it is answered, so `kill -9` loses nothing; every half second that is synced; every
 * half minute it is folded into `durable.mdb`, whose commits are synced before they are acknowledged: records, the
 * ledger, and all that is not in memory.
 */
export class Stores implements Parts {
  readonly folder: string;
  readonly mapBytes: number;
  readonly memory = new Memory(this);
  readonly fold = new Fold(this);
  readonly journal: Journal;
  readonly journalCapacity: Capacity;
  /** Grows with each change of a record, so that cached decoded records are read again. */
  recordsVersion = 1;
  /** Appended to each operation in the ledger, to tell gateways apart; empty outside outage mode. */
  counter = '';
  /** How often the file failed and was reopened. */
  reopenings = 0;
  readonly #log: Log | undefined;
  readonly #release: () => void;
  #durable: Store;
  #durableCapacity: Capacity;
  /** Of `durable` as it was opened. */
  #inode: number | undefined;
  /** Why nothing is decided; null while all is well. */
  #broken: string | null = null;
  #isGone = false;
  #reopening: Promise<void> | undefined;
  #closed = false;
  #underWay = 0;

  /** Throws what opening throws. */
  constructor({ folder, mapBytes, bootId = bootIdOf(), log }: StoreOptions) {
    this.folder = folder;
    this.mapBytes = mapBytes;
    this.#log = log;
    this.#release = claimFolder(folder);
    try {
      [this.#durable, this.#durableCapacity] = this.#open();
      upgrade(this.durable, folder, bootId, log);
      this.journal = new Journal(folder, this.#replay());
      // Nothing in them is left to be folded.
      if (this.memory.unfoldedCount === 0 && !this.memory.hasPending) this.journal.remove(this.journal.rotate());
    } catch (error) {
      this.#release();
      throw error;
    }
    this.journalCapacity = new Capacity(folder, mapBytes, () => this.journal.bytes);
    process.on('exit', this.#killIfLocked);
  }

  get durable(): Store {
    return this.#durable;
  }
  get durableCapacity(): Capacity {
    return this.#durableCapacity;
  }
  get broken(): string | null {
    return this.#broken;
  }
  /** Whether that is permanent: the file is not reopened. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** A transaction on the file, on disk when the promise ends. Rejects with what lmdb throws. */
  async write<Result>(work: (durable: Store) => Result): Promise<Result> {
    this.#underWay += 1;
    try {
      return await this.durable.transaction(() => work(this.durable));
    } finally {
      this.#underWay -= 1;
      this.durable.resetReadTxn();
    }
  }

  /** What is in memory is not what was written: all that is not in the file is read again. */
  reload(): void {
    this.memory.clear();
    try {
      this.#replay();
    } catch (error) {
      this.reopen(String(error));
    }
  }

  /** Whether the files that are open are still those in the folder. What is written to others is lost at the end. */
  checkFolder(): void {
    if (this.#closed || this.#isGone || this.#inodeNow() === this.#inode) return;
    this.#isGone = true;
    this.#broken =
      `The data in ${this.folder} was deleted while the gateway ran, so nothing that it decides would last. Put the ` +
      'folder back (backup, export), then restart the gateway';
    this.#log?.error({ folder: this.folder, reason: this.#broken }, 'the embedded store is gone');
  }

  /** Reopens a file that no longer works; tries again until that succeeds. */
  reopen(reason: string): void {
    this.checkFolder();
    if (this.#closed || this.#isGone || this.#reopening !== undefined) return;
    this.#broken = reason;
    this.#log?.error({ folder: this.folder, reason }, 'the embedded store failed and is being reopened');
    this.#reopening = this.#openAnew().finally(() => (this.#reopening = undefined));
  }

  /** Rejects with StoreUnavailable where nothing of what was written is kept. */
  async close(): Promise<void> {
    this.checkFolder();
    this.#closed = true;
    await this.#reopening;
    process.off('exit', this.#killIfLocked);
    this.journal.close();
    await this.durable.close();
    this.#release();
    if (this.#isGone) throw new StoreUnavailable(this.#broken ?? '');
  }

  async #openAnew(): Promise<void> {
    while (!this.#closed) {
      await this.durable.close().catch(() => undefined);
      // To open it would make a new one.
      this.checkFolder();
      if (this.#isGone) return;
      try {
        [this.#durable, this.#durableCapacity] = this.#open();
        this.memory.clear();
        this.#replay();
        this.#broken = null;
        this.reopenings += 1;
        this.#log?.warn({ folder: this.folder }, 'the embedded store was reopened');
        return;
      } catch (error) {
        this.#broken = error instanceof Error ? error.message : String(error);
        await later(RETRY_MS);
      }
    }
  }

  #open(): [Store, Capacity] {
    inspectFiles(this.folder);
    const options = {
      mapSize: this.mapBytes,
      encoding: 'binary' as const,
      // Hashes of secrets are in there: for the gateway's own user only.
      permissionsMode: 0o600,
      overlappingSync: false,
      // With its batching on, a commit that fails also rejects a promise nobody holds, and the process ends.
      eventTurnBatching: false,
    };
    const durable = open<Buffer, string>(join(this.folder, 'durable.mdb'), options);
    this.#inode = this.#inodeNow();
    return [durable, new Capacity(this.folder, this.mapBytes, () => usedBytesOf(durable))];
  }

  /** Gives the number of the last record that was written. */
  #replay(): number {
    return replay(this.folder, this.durable, this.memory, this.#log);
  }

  #inodeNow(): number | undefined {
    return statSync(join(this.folder, 'durable.mdb'), { throwIfNoEntry: false })?.ino;
  }

  /**
   * lmdb's thread waits for our callback within a transaction, and an exit of the process for that thread. `kill -9`
   * harms nothing.
   */
  readonly #killIfLocked = (): void => {
    if (this.#underWay > 0) process.kill(process.pid, 'SIGKILL');
  };
}

/** Opens the store in `folder`, which is made if need be. Throws StoreUnavailable saying what to mend. */
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
