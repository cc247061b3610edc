import { spawnSync } from 'node:child_process';
import { closeSync, ftruncateSync, mkdirSync, openSync, readdirSync, readFileSync, statSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

/** Another process has the folder; the message names it. */
export class FolderTaken extends Error {
  override readonly name = 'FolderTaken';
}

/** Exit status of `flock` when another process holds the lock. */
const TAKEN = 1;

/**
 * Makes this process the only one that may open the files in `folder`, which is made if need be. The kernel holds the
 * lock and releases it when the process ends, however it ends; it also binds containers that share the folder. Node
 * can't ask for one itself: `flock` locks the file that it inherits, and the lock stays with it. Where there is no such
 * program (macOS), nobody is kept out. Throws FolderTaken.
 * @returns what gives the folder back
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

/** A process of version 0.4 or older that has LMDB files in `folder` open: it claims no folder, but shares a lock. */
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
