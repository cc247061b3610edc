import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import { IMPORT_LEASE_MS, StoreUnavailable } from '../../../port.js';
import { Memtable } from '../log/memtable.js';
import { recover } from '../log/copy.js';
import { migrate } from './migrate.js';
import { Capacity } from './capacity.js';
import { ARCHIVE } from './rows.js';
import { guardExit } from './exit-guard.js';
import type { Store } from './store.js';

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
 * What the log says, held in the memory of each process (`log/memtable.ts`), goes before what `durable` has. lmdb's own `overlappingSync` would do in
 * one file, but syncs on the calling thread after each synchronous commit.
 */
export interface Stores {
  readonly recent: Store;
  readonly durable: Store;
  readonly recentCapacity: Capacity;
  readonly durableCapacity: Capacity;
  readonly memtable: Memtable;
  readonly folder: string;
  readonly mapBytes: number;
  readonly importLeaseMs: number;
}

export interface StoreOptions {
  readonly folder: string;
  /** Upper bound of what each of the two files holds. */
  readonly mapBytes: number;
  /** Tests only: pretends another boot of the machine. */
  readonly bootId?: string;
  /** Tests only: instead of IMPORT_LEASE_MS. */
  readonly importLeaseMs?: number;
}

/** Opens both files in `folder`, which is made if need be. Throws StoreUnavailable saying what to mend. */
export function openStores(options: StoreOptions): Stores {
  const { folder, mapBytes } = options;
  const recentName = `recent-${options.bootId ?? bootId()}.mdb`;
  // Hashes of secrets are in there: for the gateway's own user only.
  const common = {
    mapSize: mapBytes,
    encoding: 'binary' as const,
    maxReaders: 1024,
    permissionsMode: 0o600,
    overlappingSync: false,
  };
  try {
    mkdirSync(folder, { recursive: true });
    // With its batching on, a commit that fails (disk full) also rejects a promise nobody holds, and the process ends.
    const durable = guardExit(
      open<Buffer, string>(join(folder, 'durable.mdb'), { ...common, eventTurnBatching: false }),
    );
    refuseArchived(durable, folder);
    removeOtherBoots(folder, recentName);
    const recent = open<Buffer, string>(join(folder, recentName), { ...common, noSync: true });
    migrate(recent, durable);
    recover({ recent, durable });
    const memtable = new Memtable(recent, durable);
    memtable.refresh();
    return {
      recent,
      durable,
      memtable,
      recentCapacity: new Capacity(recent, folder, mapBytes),
      durableCapacity: new Capacity(durable, folder, mapBytes),
      folder,
      mapBytes,
      importLeaseMs: options.importLeaseMs ?? IMPORT_LEASE_MS,
    };
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreUnavailable(
      `Cannot open the embedded store in ${folder} (${reason}). Give the user that runs the gateway a local folder it can write to, with PETGATE_DATA.`,
      { cause: error },
    );
  }
}

/** Reports read this store alone: without the days that 0.2 moved elsewhere they would be too small. */
function refuseArchived(durable: Store, folder: string): void {
  if (durable.getBinary(ARCHIVE) === undefined) return;
  throw new StoreUnavailable(
    `Days of the ledger in ${folder} are in an archive, which only Redis has now: start 0.2 on this data folder once more and bring them back with its \`petgate usage archive restore\`.`,
  );
}

/** Same for every process until the machine restarts; where the system has none, the files are trusted always. */
function bootId(): string {
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
