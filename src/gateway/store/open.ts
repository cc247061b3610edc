import { join } from 'node:path';
import type { Log } from '../../shared/log.js';
import type { Plans } from '../admission/plan.js';
import type { ArchivedRows, LedgerStore } from './ledger.js';
import type { AdmissionEngine } from './port.js';
import { openFailoverEngine, type FailoverOptions } from './outage/engine.js';
import { openEmbeddedEngine } from './embedded/engine.js';
import { knownStoreIn, readOnly, type KnownStore } from './known-store.js';
import { openRedisEngine, type RedisEngineOptions } from './redis/engine.js';

/** The engine options in `settings.store`. */
type StoreSettings = Required<
  Pick<RedisEngineOptions, 'deadlineMs' | 'usageDays' | 'finalAfterMs' | 'eviction' | 'replicas'>
> &
  Pick<FailoverOptions, 'mapBytes' | 'gateways'> & {
    /** Null for the embedded engine in `dataFolder`. */
    readonly redisUrl: string | null;
    /** While Redis is unavailable: decide here with a share of each limit, or refuse. */
    readonly onFailure: 'local' | 'refuse';
  };

/** The settings that concern the store. */
interface EngineSettings {
  readonly store: StoreSettings;
  readonly plans: Plans;
  readonly dataFolder: string;
  readonly environment: string;
  /** Null for no events. */
  readonly events: object | null;
}

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
  settings: EngineSettings,
  log: Log,
  archived?: KnownStore['archived'],
  archivedRows?: ArchivedRows,
): Engine {
  const { store, plans, dataFolder, environment } = settings;
  const events = settings.events !== null;
  const { deadlineMs, usageDays, finalAfterMs, mapBytes, gateways, eviction, replicas } = store;
  if (store.redisUrl !== null) {
    const redis = openRedisEngine({
      url: store.redisUrl,
      ...{ deadlineMs, plans, usageDays, finalAfterMs, log, eviction, replicas, events, environment },
      known: knownStoreIn(dataFolder, archived),
      archivedRows,
    });
    if (store.onFailure === 'refuse') return redis;
    return openFailoverEngine({
      redis,
      folder: join(dataFolder, 'failover'),
      mapBytes,
      plans,
      gateways,
      deadlineMs,
      events,
      log,
    });
  }
  return openEmbeddedEngine({
    folder: folderIn(settings.dataFolder),
    plans,
    usageDays: store.usageDays,
    mapBytes: store.mapBytes,
    events,
    log,
  });
}

/** Opens only the ledger in Redis, for a separate process. Throws StoreUnavailable. */
export function openRedisLedger(
  { dataFolder, store }: Pick<EngineSettings, 'dataFolder' | 'store'>,
  archived?: KnownStore['archived'],
): LedgerStore {
  const { redisUrl, deadlineMs, usageDays, finalAfterMs } = store;
  // Only a process that can write local copies back to a restored store may record its progress.
  const known = readOnly(knownStoreIn(dataFolder, archived));
  return openRedisEngine({ url: redisUrl ?? '', deadlineMs, plans: new Map(), usageDays, finalAfterMs, known }).ledger;
}

function folderIn(dataFolder: string): string {
  return join(dataFolder, 'admission');
}
