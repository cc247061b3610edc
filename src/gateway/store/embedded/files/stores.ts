import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { open } from 'lmdb';
import { StoreUnavailable } from '../../../admission/port.js';
import { FORMAT, isKnownFormat } from '../../format.js';
import { Memtable } from '../log/memtable.js';
import { recover, saveEntry } from '../log/copy.js';
import { Capacity } from './capacity.js';
import { ARCHIVE, FORMAT_ROW, IMPORT } from './rows.js';
import { guardExit, isIdle } from './exit-guard.js';
import { isDamage } from './damage.js';
import { inspectFiles } from './inspect.js';
import type { Store } from './store.js';
import type { Log } from '../../../../shared/log.js';
import { letOthersOpen, openInTurn } from '../../../../shared/opening.js';

/** Between two tries to open files that failed. */
const RETRY_MS = 1_000;

/**
 * Two LMDB files, because no one setting of LMDB gives both speed and safety:
 *
 * - `recent`: what admissions write, as a log, committed without waiting for the disk. Each commit is in the
 *   page cache when it returns, so `kill -9` loses nothing. After a power cut the disk may hold its
 *   newest header without the pages behind it: such a file cannot be trusted. Its name therefore
 *   carries the id of this boot of the machine, and one from another boot is never opened again.
 * - `durable`: key records, their history, the ledger and every subject's state, at most a second
 *   behind `recent` (`log/checkpoint.ts`). Each commit is synced, data first and header after, so that
 *   it survives a power cut whole.
 *
 * What the log says, held in the memory of each process (`log/memtable.ts`), goes before what `durable` has. lmdb's own
 * `overlappingSync` would do in
 * one file, but syncs on the calling thread after each synchronous commit.
 */
export class Stores {
  readonly folder: string;
  readonly mapBytes: number;
  readonly #recentName: string;
  readonly #log: Log | undefined;
  #files: Files;
  /** Why the files have to be opened anew; null while they serve. */
  #broken: string | null = null;
  #reopening: Promise<void> | undefined;
  #closed = false;
  /** Stands behind each operation in the ledger: tells those apart who count here. Empty where nobody asks. */
  counter = '';
  /** How often the files failed and were opened anew. */
  reopenings = 0;
  /** Of `durable` as it was opened. */
  #inode: number | undefined;
  #isGone = false;

  /** Throws what opening throws. */
  constructor({ folder, mapBytes, bootId = bootIdOf(), log }: StoreOptions) {
    this.folder = folder;
    this.mapBytes = mapBytes;
    this.#recentName = `recent-${bootId}.mdb`;
    this.#log = log;
    mkdirSync(folder, { recursive: true });
    // Files of another boot may be all that is left to tell that there was more.
    inspectFiles(folder, this.#recentName, log);
    removeOtherBoots(folder, this.#recentName);
    this.#files = this.#open();
    refuseUnfinished(this.durable, folder);
    checkFormat(this.durable, folder);
    if (!isSound(this.#files)) this.reopen('the files were found damaged');
  }

  get recent(): Store {
    return this.#files.recent;
  }
  get durable(): Store {
    return this.#files.durable;
  }
  get memtable(): Memtable {
    return this.#files.memtable;
  }
  get recentCapacity(): Capacity {
    return this.#files.recentCapacity;
  }
  get durableCapacity(): Capacity {
    return this.#files.durableCapacity;
  }
  get broken(): string | null {
    return this.#broken;
  }
  /** Whether it is for good: it is not opened anew. */
  get isGone(): boolean {
    return this.#isGone;
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

  #inodeNow(): number | undefined {
    return statSync(join(this.folder, 'durable.mdb'), { throwIfNoEntry: false })?.ino;
  }

  /** The files do not serve any more: they are opened anew, now and until that goes well. */
  reopen(reason: string): void {
    this.checkFolder();
    if (this.#closed || this.#isGone || this.#reopening !== undefined) return;
    this.#broken = reason;
    this.#log?.error({ folder: this.folder, reason }, 'the embedded store failed, and is opened anew');
    this.#reopening = this.#openAnew().finally(() => (this.#reopening = undefined));
  }

  /** Rejects with StoreUnavailable where nothing of what was written is kept. */
  async close(): Promise<void> {
    this.checkFolder();
    this.#closed = true;
    await this.#reopening;
    await closeFiles(this.#files);
    if (this.#isGone) throw new StoreUnavailable(this.#broken ?? '');
  }

  async #openAnew(): Promise<void> {
    const before = this.#files;
    while (!this.#closed) {
      await closeFiles(this.#files).catch(() => undefined);
      // To open them would make new ones.
      this.checkFolder();
      if (this.#isGone) return;
      try {
        this.#files = this.#open();
        if (!isSound(this.#files)) await this.#replaceRecent(before.memtable);
        this.#broken = null;
        this.reopenings += 1;
        this.#log?.warn({ folder: this.folder }, 'the embedded store was opened anew');
        return;
      } catch (error) {
        this.#broken = error instanceof Error ? error.message : String(error);
        await later(RETRY_MS);
      }
    }
  }

  /** What was lost of `recent` is in `durable`, but for the last half second: that is in memory. */
  async #replaceRecent(known: Memtable): Promise<void> {
    await closeFiles(this.#files).catch(() => undefined);
    for (const name of [this.#recentName, `${this.#recentName}-lock`]) rmSync(join(this.folder, name), { force: true });
    this.#files = this.#open();
    const { durable, memtable } = this.#files;
    recover(this.#files);
    durable.transactionSync(() => {
      for (const entry of known.unmerged()) saveEntry(durable, entry, known.mergedTo);
    });
    memtable.refresh();
  }

  #open(): Files {
    const { folder, mapBytes } = this;
    // Hashes of secrets are in there: for the gateway's own user only.
    const common = {
      mapSize: mapBytes,
      encoding: 'binary' as const,
      maxReaders: 1024,
      permissionsMode: 0o600,
      overlappingSync: false,
    };
    const { recent, durable } = openInTurn(folder, () => {
      inspectFiles(folder, this.#recentName, this.#log);
      return {
        // With its batching on, a commit that fails (disk full) also rejects a promise nobody holds, and the process
        // ends.
        durable: guardExit(open<Buffer, string>(join(folder, 'durable.mdb'), { ...common, eventTurnBatching: false })),
        recent: open<Buffer, string>(join(folder, this.#recentName), { ...common, noSync: true }),
      };
    });
    this.#inode = this.#inodeNow();
    return {
      recent,
      durable,
      memtable: new Memtable(recent, durable),
      recentCapacity: new Capacity(recent, folder, mapBytes),
      durableCapacity: new Capacity(durable, folder, mapBytes),
      stopLetting: letOthersOpen(folder, isIdle, () => this.checkFolder()),
    };
  }
}

/** What is open at a time. */
interface Files {
  readonly recent: Store;
  readonly durable: Store;
  readonly recentCapacity: Capacity;
  readonly durableCapacity: Capacity;
  readonly memtable: Memtable;
  readonly stopLetting: () => void;
}

async function closeFiles({ recent, durable, stopLetting }: Files): Promise<void> {
  stopLetting();
  await recent.close();
  await durable.close();
}

/** Whether `recent` can be read and written. Throws what is no damage, such as a full disk. */
function isSound(files: Files): boolean {
  const { recent, memtable } = files;
  try {
    recover(files);
    memtable.refresh();
    recent.transactionSync(() => {
      recent.putSync('z', Buffer.from('probe'));
      recent.removeSync('z');
    });
    return true;
  } catch (error) {
    if (isDamage(error)) return false;
    throw error;
  }
}

export interface StoreOptions {
  readonly folder: string;
  /** Upper bound of what each of the two files holds. */
  readonly mapBytes: number;
  /** Tests only: pretends another boot of the machine. */
  readonly bootId?: string;
  /** Where it is said that the files failed. */
  readonly log?: Log | undefined;
}

/** Opens both files in `folder`, which is made if need be. Throws StoreUnavailable saying what to mend. */
export function openStores(options: StoreOptions): Stores {
  try {
    return new Stores(options);
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreUnavailable(
      `Cannot open the embedded store in ${options.folder} (${reason}). Give the user that runs the gateway a ` +
        'local folder it can write to, with PETGATE_DATA.',
      { cause: error },
    );
  }
}

function checkFormat(durable: Store, folder: string): void {
  const format = durable.getBinary(FORMAT_ROW)?.toString();
  if (format === undefined) durable.transactionSync(() => durable.putSync(FORMAT_ROW, Buffer.from(FORMAT)));
  else if (!isKnownFormat(format))
    throw new StoreUnavailable(
      `The embedded store in ${folder} has format ${format}, which this version of Petgate does not know: ` +
        'start the version that wrote it, or a later one.',
    );
}

/** What 0.2 left half done: keys of its import are in no index yet, days that it archived are missing in reports. */
function refuseUnfinished(durable: Store, folder: string): void {
  if (durable.getBinary(IMPORT) !== undefined)
    throw new StoreUnavailable(
      `An import of keys that 0.2 began is unfinished in ${folder}: start 0.2 on this data folder once more and run ` +
        'its `petgate keys import` again, which finishes or drops it.',
    );
  if (durable.getBinary(ARCHIVE) !== undefined)
    throw new StoreUnavailable(
      `Days of the ledger in ${folder} are in an archive, which only Redis has now: start 0.2 on this data ` +
        'folder once more and bring them back with its `petgate usage archive restore`.',
    );
}

/** Same for every process until the machine restarts; where the system has none, the files are trusted always. */
function bootIdOf(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return 'any-boot';
  }
}

function removeOtherBoots(folder: string, ours: string): void {
  for (const name of readdirSync(folder)) {
    if (name.startsWith('recent-') && !name.startsWith(ours)) rmSync(join(folder, name), { force: true });
  }
}
