import type { Sources } from '../../config/load.js';
import { openRedisEngine } from '../../store/redis/engine.js';
import { withRetry } from '../../store/records/retry.js';
import type { Holders } from './holders.js';
import { planProblems } from './losses.js';

/** Returns whom in the Redis of `sources` its plans would not serve. Rejects with StoreUnavailable. */
export async function unservedInStore(
  { settings, ...sources }: Sources,
  operations: readonly { readonly id: string; readonly cost: number }[],
): ReturnType<typeof planProblems> {
  const { redis: url = '', deadline, usage } = settings.store;
  const engine = openRedisEngine({ url, deadlineMs: deadline, usageDays: usage, plans: new Map() });
  try {
    const { keys, customers } = engine;
    const holders: Holders = {
      keys: { ...keys, page: (after, count) => withRetry(() => keys.page(after, count)) },
      customers: { ...customers, page: (after, count) => withRetry(() => customers.page(after, count)) },
    };
    return await planProblems(holders, { ...sources, settings }, null, operations);
  } finally {
    await engine.close();
  }
}
