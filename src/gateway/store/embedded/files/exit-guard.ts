import type { Store } from './store.js';

let underWay = 0;
let isGuarded = false;

/**
 * `store`, whose asynchronous transactions are counted. One of them takes the write lock on a thread of
 * lmdb's, which then waits for our callback: a `process.exit` just there would wait for that thread, the
 * thread for us, and every other process for the lock, for ever. `kill -9` frees it, and harms nothing.
 */
export function guardExit(store: Store): Store {
  if (!isGuarded) process.on('exit', releaseRequest);
  isGuarded = true;
  const transaction = store.transaction.bind(store);
  store.transaction = async <T>(work: () => T): Promise<T> => {
    underWay += 1;
    try {
      return await transaction(work);
    } finally {
      underWay -= 1;
    }
  };
  return store;
}

/** Whether no asynchronous transaction of this process is under way. */
export function isIdle(): boolean {
  return underWay === 0;
}

function releaseRequest(): void {
  if (underWay > 0) process.kill(process.pid, 'SIGKILL');
}
