import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * LMDB files are opened by one process at a time, and while no other commits. lmdb 3.5.6 writes the id of the last
 * transaction, as it read it when it began to open, into memory that all processes share (`mdb_env_open2`): what
 * others committed in that moment is gone, and after several commits pages are used twice. So an opener asks, with
 * a file, and goes on when all processes that have the files open stand still, each of which says so with another.
 */
const ASK = 'ask';
/** An opener waits so long for its turn, and then for the others. */
const WAIT_MS = 10_000;
/** Nobody stands still longer for an opener, which takes a millisecond. */
const STILL_MS = 1_000;
const STEP_MS = 1;
/** Where the system can't say who has the files open. */
const BLIND_WAIT_MS = 200;

/** Runs `open` while no other process commits to files in `folder`. Throws when one doesn't make way. */
export function openInTurn<Result>(folder: string, open: () => Result): Result {
  const turns = turnsFolderIn(folder);
  takeTurn(turns);
  try {
    const moving = (): number | undefined => othersIn(folder)?.find((pid) => !isStill(turns, pid));
    if (othersIn(folder) === undefined) waitUntil(() => false, BLIND_WAIT_MS);
    else if (!waitUntil(() => moving() === undefined, WAIT_MS))
      throw new Error(`process ${moving() ?? ''} has its files open, and does not make way: end it`);
    return open();
  } finally {
    rmSync(join(turns, ASK), { force: true });
  }
}

/**
 * From now on other processes may open the files: this one stands still for each.
 * @param isIdle whether no transaction of this process is under way
 * @param moved called when the folder may have been deleted or replaced
 * @returns what ends it
 */
export function letOthersOpen(folder: string, isIdle: () => boolean, moved: () => void = () => undefined): () => void {
  const turns = turnsFolderIn(folder);
  let timer: NodeJS.Timeout | undefined;
  const poll = (): void => {
    clearTimeout(timer);
    const asker = requestIn(turns);
    if (asker === undefined) {
      moved();
      return;
    }
    if (isIdle()) standStill(turns, asker);
    else timer = setTimeout(poll, STEP_MS);
  };
  const watcher = watch(turns, { persistent: false }, poll);
  watcher.on('error', () => watcher.close());
  // Somebody may have asked before.
  poll();
  return () => {
    clearTimeout(timer);
    watcher.close();
  };
}

function turnsFolderIn(folder: string): string {
  const turns = join(folder, 'opening');
  mkdirSync(turns, { recursive: true, mode: 0o700 });
  return turns;
}

function takeTurn(turns: string): void {
  const ask = join(turns, ASK);
  const isTaken = waitUntil(() => {
    const asker = askerIn(turns);
    if (asker !== undefined && hasEnded(asker)) rmSync(ask, { force: true });
    return isWritten(ask);
  }, WAIT_MS);
  if (!isTaken) throw new Error(`process ${askerIn(turns) ?? ''} has been opening its files for long: end it`);
}

function isWritten(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
}

function askerIn(turns: string): number | undefined {
  return pidIn(join(turns, ASK));
}

/** undefined: there is none, or it is just being written. */
function pidIn(file: string): number | undefined {
  try {
    return Number(readFileSync(file, 'utf8')) || undefined;
  } catch {
    return undefined;
  }
}

/** Of another process that still runs. */
function requestIn(turns: string): number | undefined {
  const asker = askerIn(turns);
  return asker === undefined || asker === process.pid || hasEnded(asker) ? undefined : asker;
}

function stillOf(turns: string, pid: number): string {
  return join(turns, `still-${pid}`);
}

/** For this process: one that stood still for the opener before may be going on already. */
function isStill(turns: string, pid: number): boolean {
  return pidIn(stillOf(turns, pid)) === process.pid || hasEnded(pid);
}

function standStill(turns: string, asker: number): void {
  const still = stillOf(turns, process.pid);
  writeFileSync(still, String(asker), { mode: 0o600 });
  try {
    waitUntil(() => requestIn(turns) !== asker, STILL_MS);
  } finally {
    rmSync(still, { force: true });
  }
}

const clock = new Int32Array(new SharedArrayBuffer(4));

/** Without the event loop: an opener has nothing else to do, and others must stand still. False when it took long. */
function waitUntil(isSo: () => boolean, withinMs: number): boolean {
  const endMs = performance.now() + withinMs;
  while (!isSo()) {
    if (performance.now() > endMs) return false;
    Atomics.wait(clock, 0, 0, STEP_MS);
  }
  return true;
}

/** The other processes that have files in `folder` open: they share a lock. undefined where the system doesn't say. */
function othersIn(folder: string): readonly number[] | undefined {
  let locks: string;
  try {
    locks = readFileSync('/proc/locks', 'utf8');
  } catch {
    return undefined;
  }
  const inodes = new Set(
    readdirSync(folder)
      .filter((name) => name.endsWith('.mdb-lock') || name === 'lock.mdb')
      .map((name) => String(statSync(join(folder, name), { throwIfNoEntry: false })?.ino)),
  );
  const pids = locks.split('\n').flatMap((line) => {
    // `1: POSIX  ADVISORY  READ 20313 fe:00:2146578 0 0`
    const [, , , , pid, file = ''] = line.trim().split(/\s+/);
    return inodes.has(file.slice(file.lastIndexOf(':') + 1)) ? [Number(pid)] : [];
  });
  return [...new Set(pids)].filter((pid) => pid !== process.pid);
}
