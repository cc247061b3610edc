import { join } from 'node:path';
import type { Settings } from '../../config/settings.js';
import type { Log } from '../../../shared/log.js';
import type { Plans } from '../plan.js';
import type { AdmissionEngine } from '../port.js';
import { openEmbeddedEngine } from './embedded/engine.js';
import { openRedisEngine } from './redis/engine.js';

export type Engine = AdmissionEngine & { setPlans(plans: Plans): void };

/** The engine the settings name: Redis when there is a URL, else LMDB in the data folder. */
export function openEngine(settings: Settings, log: Log): Engine {
  const { store, plans } = settings;
  if (store.redisUrl !== null) {
    return openRedisEngine({ url: store.redisUrl, deadlineMs: store.deadlineMs, plans, usageDays: store.usageDays, log });
  }
  return openEmbeddedEngine({ folder: join(settings.dataFolder, 'admission'), plans, usageDays: store.usageDays, mapBytes: store.mapBytes });
}
