import { join } from 'node:path';
import type { Log } from '../../shared/log.js';
import type { Plans } from '../admission/plan.js';
import type { ArchivedRows, LedgerStore } from '../store/ledger.js';
import type { AdmissionEngine } from '../store/port.js';
import { openFailoverEngine } from '../store/outage/engine.js';
import { openEmbeddedEngine } from '../store/embedded/engine.js';
import { knownStoreIn, readOnly, type KnownStore } from '../store/known-store.js';
import { openRedisEngine, type RedisEngineOptions } from '../store/redis/engine.js';
import type { Settings } from './schema/gateway.js';

export type Engine = AdmissionEngine & {
  setPlans(plans: Plans): void;
  /**
   * Returns why the store refuses these plans; null if it accepts them. Absent if it accepts any. Rejects with
   * StoreUnavailable.
   */
  refusal?(plans: Plans): Promise<string | null>;
};

/** Opens the engine of the settings: Redis if there is a URL, otherwise the embedded one in the data folder. */
export function openEngine(
  settings: Pick<Settings, 'store' | 'plans' | 'data' | 'environment' | 'events'>,
  log: Log,
  archived?: KnownStore['archived'],
  archivedRows?: ArchivedRows,
): Engine {
  const { store, plans, data, environment } = settings;
  const common = { plans, events: settings.events !== undefined, log };
  const { map_size: mapBytes, usage: usageDays, gateways } = store;
  if (store.redis === undefined)
    return openEmbeddedEngine({ ...common, folder: join(data, 'admission'), usageDays, mapBytes });
  const redis = openRedisEngine({
    ...{ ...common, ...redisOptions(store), environment, archivedRows },
    eviction: store.eviction,
    replicas: { replicas: store.replicas, waitMs: store.replica_wait },
    known: knownStoreIn(data, archived),
  });
  if (store.on_failure === 'refuse') return redis;
  const folder = join(data, 'failover');
  return openFailoverEngine({ ...common, redis, folder, mapBytes, gateways, deadlineMs: store.deadline });
}

/** Opens only the ledger in Redis, for a separate process. Throws StoreUnavailable. */
export function openRedisLedger(
  { data, store }: Pick<Settings, 'data' | 'store'>,
  archived?: KnownStore['archived'],
): LedgerStore {
  // Only a process that can write local copies back to a restored store may record its progress.
  const known = readOnly(knownStoreIn(data, archived));
  return openRedisEngine({ ...redisOptions(store), plans: new Map(), known }).ledger;
}

function redisOptions({ redis: url = '', deadline, usage, final_after: finalAfterMs }: Settings['store']) {
  return { url, deadlineMs: deadline, usageDays: usage, finalAfterMs } satisfies Partial<RedisEngineOptions>;
}
