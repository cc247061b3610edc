import { setTimeout as later } from 'node:timers/promises';
import { StoreUnavailable } from '../../../admission/port.js';
import { VersionConflict } from '../../records/conflicts.js';
import { diskMessage } from './capacity.js';
import type { Store } from './database.js';

/** What lmdb reports for a file or environment that must be reopened. */
const DAMAGE = /MDB_(?:CORRUPTED|PAGE_NOTFOUND|PANIC|BAD_TXN|BAD_RSLOT|INVALID|PROBLEM|CURSOR_FULL|PAGE_FULL)/;
/** A full disk appears as any of these, depending on the write that failed. */
const DISK_CODES: readonly unknown[] = [5, 28, 'EIO', 'ENOSPC', 'EDQUOT', 'EROFS'];

/** The open file, as work on it sees it (owner/stores.ts). */
export interface OpenFile {
  readonly folder: string;
  readonly durable: Store;
  /** Why the store cannot decide; null if it works. */
  readonly broken: string | null;
  /** Whether that is permanent: the file will not be reopened. */
  readonly isGone: boolean;
  recordsVersion: number;
  write<Result>(work: (durable: Store) => Result): Promise<Result>;
  checkFolder(): void;
  reopen(reason: string): void;
}

/** Runs store work; rejects with an error that says what to do. */
export async function attempt<Result>(stores: OpenFile, work: () => Result | Promise<Result>): Promise<Result> {
  try {
    requireWhole(stores);
    return await work();
  } catch (error) {
    throw await translated(stores, error);
  }
}

/** Reads the current contents of the file. */
export function reading<Result>(stores: OpenFile, work: (durable: Store) => Result): Promise<Result> {
  return attempt(stores, () => {
    stores.durable.resetReadTxn();
    return work(stores.durable);
  });
}

/** Runs work in a transaction on the file, which is on disk when the promise resolves. Rejects like `attempt`. */
export function inTransaction<Result>(stores: OpenFile, work: (durable: Store) => Result): Promise<Result> {
  stores.checkFolder();
  return attempt(stores, () => stores.write(work));
}

/** Like `inTransaction`, for changes of records: invalidates decoded copies. */
export function changingRecords<Result>(stores: OpenFile, work: (durable: Store) => Result): Promise<Result> {
  return inTransaction(stores, work).finally(() => (stores.recordsVersion += 1));
}

function requireWhole({ broken, isGone, folder }: OpenFile): void {
  if (broken !== null && isGone) throw new StoreUnavailable(broken);
  if (broken !== null)
    throw new StoreUnavailable(`The embedded store in ${folder} failed and is being reopened: ${broken}`);
}

/** Turns lmdb and file errors into StoreUnavailable, and reopens a damaged file. Returns others unchanged. */
async function translated(stores: OpenFile, error: unknown): Promise<unknown> {
  if (error instanceof StoreUnavailable || error instanceof VersionConflict || !(error instanceof Error)) return error;
  const cause = await commitErrorOf(error);
  const isDamage = DAMAGE.test(cause.message);
  if (isDamage) stores.reopen(cause.message);
  const code: unknown = 'code' in cause ? cause.code : undefined;
  if (
    typeof code !== 'number' &&
    !('syscall' in cause) &&
    !isDamage &&
    !/MDB_|closed database|database has been closed|Database is closed/i.test(cause.message)
  )
    return cause;
  return new StoreUnavailable(messageOf(stores, code, cause.message), { cause });
}

// A failed asynchronous commit gives its reason in a separate promise, which nobody else awaits.
async function commitErrorOf(error: Error): Promise<Error> {
  if (!('commitError' in error)) return error;
  const reported = Promise.resolve(error.commitError).then(
    () => error,
    (cause: unknown) => (cause instanceof Error ? cause : error),
  );
  return Promise.race([reported, later(200, error)]);
}

function messageOf(stores: OpenFile, code: unknown, reason: string): string {
  if (DISK_CODES.includes(code)) return diskMessage(stores.folder, `full or failing (${reason})`);
  return `The embedded store in ${stores.folder} failed: ${reason}`;
}
