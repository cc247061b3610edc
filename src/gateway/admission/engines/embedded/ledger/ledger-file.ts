import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { open } from 'lmdb';
import { StoreUnavailable } from '../../../port.js';
import type { UsageRow } from '../../../port.js';
import { openEmbeddedEngine } from '../engine.js';
import type { EmbeddedOptions } from '../engine.js';
import { mergeDays } from './merge-days.js';
import type { Store } from '../files/store.js';

/** Rows read before the file is opened anew: what was read stays mapped, and counts as memory, until then. */
const RENEW_ROWS = 100_000;

/**
 * The whole ledger of the engine in `folder`, for a process that opens it for nothing else: memory
 * stays small however large the file is. Rejects with StoreUnavailable.
 */
export async function* readLedgerFile(
  options: EmbeddedOptions,
  days: Iterable<string>,
  after: string | null = null,
): AsyncGenerator<readonly UsageRow[]> {
  // Its last act is to save what no checkpoint has saved yet.
  await openEmbeddedEngine(options).close();
  let store = openFile(options.folder);
  let renewAt = RENEW_ROWS;
  const source = {
    store: () => store,
    attempt: (work: () => void) => {
      work();
      return Promise.resolve();
    },
    between: async (rowsRead: number) => {
      // A kernel that preempts lazily gives the processor to the gateway when we enter it, else at its next tick, 4 ms later.
      await setImmediate();
      if (rowsRead < renewAt) return;
      renewAt = rowsRead + RENEW_ROWS;
      await store.close();
      store = openFile(options.folder);
    },
  };
  try {
    yield* mergeDays(source, days, after);
  } finally {
    await store.close();
  }
}

function openFile(folder: string): Store {
  try {
    return open<Buffer, string>(join(folder, 'durable.mdb'), { encoding: 'binary', readOnly: true, maxReaders: 1024 });
  } catch (error) {
    throw new StoreUnavailable(`Cannot read the ledger in ${folder}.`, { cause: error });
  }
}
