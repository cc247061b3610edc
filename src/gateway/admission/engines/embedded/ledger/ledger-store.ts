import type { LedgerStore } from '../../../ledger-store.js';
import type { EmbeddedOptions } from '../engine.js';
import { openStores } from '../files/stores.js';
import { customersOf } from '../keys/customer-store.js';
import type { Stores } from '../files/stores.js';
import { daysOf } from './day-ledger.js';
import { readLedgerFile } from './ledger-file.js';
import { rowsOfKey } from './usage.js';

/** The ledger in `options.folder`, beside the processes that count in it, read from the file in little memory. */
export function openEmbeddedLedger(options: EmbeddedOptions): LedgerStore {
  const ask = async <T>(work: (stores: Stores) => Promise<T>): Promise<T> => {
    const stores = openStores(options);
    try {
      return await work(stores);
    } finally {
      await stores.recent.close();
      await stores.durable.close();
    }
  };
  return {
    async *rows(from, to, { keyId, after = null }) {
      const days = [...daysOf(from, to)];
      if (keyId === undefined) yield* readLedgerFile(options, days, after);
      else yield await ask((stores) => rowsOfKey(stores, keyId, days));
    },
    customers: (afterId, count) => ask((stores) => customersOf(stores).page(afterId, count)),
    close: () => Promise.resolve(),
  };
}
