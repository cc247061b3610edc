import { watch, type FSWatcher } from 'node:fs';
import { dirname } from 'node:path';
import { Contents } from './files/content.js';

/** Editors and Kubernetes change several files together: check once after that. */
const QUIET_MS = 100;
/** Some changes trigger no event: a link further up the path, a recreated folder, a volume without events. */
const POLL_MS = 10_000;

/**
 * Calls `onChange` when the content of any of `files` has changed, and waits for it. Watches folders, not files: an
 * atomic rename ends the watch of a file, and Kubernetes swaps a link.
 * @param files evaluated again after each change, which may add other files
 */
export function watchFiles(files: () => readonly string[], onChange: () => unknown): { close(): void } {
  const contents = new Contents();
  let watchers: FSWatcher[] = [];
  let timer: NodeJS.Timeout | undefined;
  let seen = contents.first(files());
  let isClosed = false;
  let turn: Promise<void> = Promise.resolve();

  const check = async (): Promise<void> => {
    const now = await contents.of(files());
    if (isClosed || now === seen) return;
    seen = now;
    await onChange();
    rewatch();
    // Changed again while it was read, or while it was not watched.
    if ((await contents.of(files())) !== seen) scheduleCheck();
  };
  // One after the other: each compares with the one before.
  const checkInTurn = (): void => void (turn = turn.then(check));
  const scheduleCheck = (): void => {
    clearTimeout(timer);
    timer = setTimeout(checkInTurn, QUIET_MS).unref();
  };
  const unwatch = (): void => {
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
  };
  const rewatch = (): void => {
    unwatch();
    if (isClosed) return;
    watchers = [...new Set(files().map((file) => dirname(file)))].flatMap(
      (folder) => watchFolder(folder, scheduleCheck) ?? [],
    );
  };
  rewatch();
  const polling = setInterval(checkInTurn, POLL_MS).unref();
  return {
    close: () => {
      isClosed = true;
      clearInterval(polling);
      unwatch();
    },
  };
}

/** A missing or deleted folder is a change too, not an error. */
function watchFolder(folder: string, onEvent: () => void): FSWatcher | null {
  try {
    const watcher = watch(folder, { persistent: false }, onEvent);
    return watcher.on('error', () => watcher.close());
  } catch {
    return null;
  }
}
