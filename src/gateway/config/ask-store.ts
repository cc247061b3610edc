import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { evictionAt } from '../store/redis/trust/eviction.js';
import type { Settings } from './settings.js';

/**
 * What is wrong with the store that the settings name, a line each. Writes nothing.
 * Rejects with StoreUnavailable where it does not answer.
 */
export async function askStore({ store, dataFolder }: Settings): Promise<readonly string[]> {
  if (store.redisUrl === null) return folderProblems(dataFolder);
  const reason = await evictionAt(store.redisUrl, store.deadlineMs);
  return reason === null || store.eviction === 'accept' ? [] : [`Redis can't be relied on: ${reason}`];
}

function folderProblems(folder: string): readonly string[] {
  let nearest = folder;
  while (!existsSync(nearest)) nearest = dirname(nearest);
  try {
    accessSync(nearest, constants.W_OK | constants.X_OK);
    return [];
  } catch {
    return [`${nearest} can't be written to; the store stands in the data folder (PETGATE_DATA)`];
  }
}
