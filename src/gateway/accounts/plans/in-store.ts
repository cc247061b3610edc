import type { Sources } from '../../config/load.js';
import { openRedisEngine } from '../../store/redis/engine.js';
import { patiently } from '../../store/retry.js';
import type { Holders } from './holders.js';
import { takenBy } from './losses.js';

/** Whom the plans of `sources` would not serve of those in their Redis. Rejects with StoreUnavailable. */
export async function unservedInStore(
  { settings, ...sources }: Sources,
  operations: readonly { readonly id: string; readonly cost: number }[],
): ReturnType<typeof takenBy> {
  const { redisUrl, deadlineMs, usageDays } = settings.store;
  const engine = openRedisEngine({ url: redisUrl ?? '', deadlineMs, usageDays, plans: new Map() });
  try {
    const { keys, customers } = engine;
    const holders: Holders = {
      keys: { ...keys, page: (after, count) => patiently(() => keys.page(after, count)) },
      customers: { ...customers, page: (after, count) => patiently(() => customers.page(after, count)) },
    };
    return await takenBy(holders, { ...sources, settings }, null, operations);
  } finally {
    await engine.close();
  }
}
