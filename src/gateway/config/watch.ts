import { createHash } from 'node:crypto';
import { readFileSync, watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { dirname } from 'node:path';

/** Editors and Kubernetes change several things at once; one look after they are done is enough. */
const QUIET_MS = 100;

/**
 * Calls `onChange` when the content of any of `files` differs from what it was. Watches their
 * folders, not the files: a file's watch dies at the first atomic rename, and Kubernetes swaps a link.
 * @param files asked again after each change, since a change may name other files
 */
export function watchFiles(files: () => readonly string[], onChange: () => void): { close(): void } {
  let watchers: FSWatcher[] = [];
  let timer: NodeJS.Timeout | undefined;
  let seen = '';

  const look = (): void => {
    const now = contentOf(files());
    if (now === seen) return;
    seen = now;
    onChange();
    rewatch();
  };
  const rewatch = (): void => {
    close();
    seen = contentOf(files());
    watchers = [...new Set(files().map((file) => dirname(file)))].map((folder) => watchFolder(folder));
  };
  const watchFolder = (folder: string): FSWatcher => {
    const watcher = watch(folder, { persistent: false }, () => {
      clearTimeout(timer);
      timer = setTimeout(look, QUIET_MS).unref();
    });
    // A folder that goes away is a change too, and no reason to stop.
    return watcher.on('error', () => watcher.close());
  };
  const close = (): void => {
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
    watchers = [];
  };
  rewatch();
  return { close };
}

function contentOf(files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files) {
    hash.update(`\0${file}\0`);
    try {
      hash.update(readFileSync(file));
    } catch {
      hash.update('unreadable');
    }
  }
  return hash.digest('hex');
}
