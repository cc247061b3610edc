import { spawnSync } from 'node:child_process';
import { closeSync, ftruncateSync, mkdirSync, openSync, readdirSync, readFileSync, statSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

/** Another process has the folder open; the message names that process. */
export class FolderTaken extends Error {
  override readonly name = 'FolderTaken';
}

/** Exit status of `flock` when another process holds the lock. */
const TAKEN = 1;

/**
 * Makes this process the only one that may open the files in `folder`, which is created if missing. The kernel holds
 * the lock and releases it when the process ends, however it ends; it also works between containers that share the
 * folder. Node cannot lock a file itself: `flock` locks the file that it inherits, and the lock stays with that file.
 * Where there is no such program (macOS), nothing is locked. Throws FolderTaken.
 * @returns a function that releases the folder
 */
export function claimFolder(folder: string): () => void {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'owner');
  const file = openSync(path, 'a+', 0o600);
  try {
    const { status } = spawnSync('flock', ['-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', file] });
    if (status === TAKEN) throw taken(folder, readFileSync(path, 'utf8').trim() || 'another process');
    const older = othersIn(folder);
    if (older !== undefined) throw taken(folder, `process ${older}`);
    ftruncateSync(file);
    writeSync(file, `process ${process.pid} on ${hostname()}\n`);
  } catch (error) {
    closeSync(file);
    throw error;
  }
  return () => closeSync(file);
}

function taken(folder: string, owner: string): FolderTaken {
  return new FolderTaken(`${owner} has ${folder} open, and only one process may: stop it first, or use another folder`);
}

/**
 * Returns the id of a process of version 0.4 or older that has LMDB files in `folder` open. Those versions do not claim
 * the folder, but hold a shared lock on one of its files.
 */
function othersIn(folder: string): number | undefined {
  const inodes = new Set(
    readdirSync(folder)
      .filter((name) => name.endsWith('.mdb-lock') || name === 'lock.mdb')
      .map((name) => String(statSync(join(folder, name), { throwIfNoEntry: false })?.ino)),
  );
  if (inodes.size === 0) return undefined;
  let locks: string;
  try {
    locks = readFileSync('/proc/locks', 'utf8');
  } catch {
    return undefined;
  }
  for (const line of locks.split('\n')) {
    // `1: POSIX  ADVISORY  READ 20313 fe:00:2146578 0 0`
    const [, , , , pid, file = ''] = line.trim().split(/\s+/);
    if (Number(pid) !== process.pid && inodes.has(file.slice(file.lastIndexOf(':') + 1))) return Number(pid);
  }
  return undefined;
}
