import { openEmbeddedEngine } from '../../src/gateway/store/embedded/engine.js';
import { openRedisEngine } from '../../src/gateway/store/redis/engine.js';
import { PLANS } from './cast.js';
import type { SteeredEngine } from './reference.js';

/** An engine by name, so that a child process can be told which one to drive. */
export type Choice =
  | { readonly engine: 'redis'; readonly url: string }
  | { readonly engine: 'embedded'; readonly folder: string };

const MAP_BYTES = 256 * 1_048_576;

/** @param usageDays days that the ledger is kept */
export function openEngine(choice: Choice, usageDays = 400): SteeredEngine {
  if (choice.engine === 'redis')
    return openRedisEngine({ url: choice.url, deadlineMs: 10_000, plans: PLANS, usageDays, events: true });
  return openEmbeddedEngine({ folder: choice.folder, plans: PLANS, usageDays, mapBytes: MAP_BYTES, events: true });
}
