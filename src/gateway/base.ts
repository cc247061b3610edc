import cluster from 'node:cluster';
import { openEngine, type Engine } from './store/open.js';
import type { Certificate } from './config/certificate.js';
import { ConfigError, type Sources } from './config/load.js';
import type { Settings } from './config/settings.js';
import { readSecrets, type Secrets } from './secrets.js';
import { archivedStore } from './usage/ledger.js';
import type { InForce } from './workers/message.js';
import { createLog, type Log } from '../shared/log.js';

/** What every gateway process starts from; what may change while it runs is the reloader's. */
export interface Base extends InForce, Secrets {
  /** Set by the process that serves the public, or keeps those that do. Resolves once the settings are in force. */
  apply: (settings: Settings, certificate: Certificate | null) => Promise<void> | void;
  readonly log: Log;
  readonly engine: Engine;
}

/** Opens the store. Throws InvalidSecret, and what opening it throws. */
export function openBase(environment: NodeJS.ProcessEnv, { settings, certificate, contract }: InForce): Base {
  const log = createLog('gateway', settings.log.level);
  const { dataFolder, events } = settings;
  // Workers send none.
  const secrets = readSecrets(environment, { dataFolder, events: cluster.isPrimary ? events : null });
  return {
    ...secrets,
    settings,
    certificate,
    apply: () => undefined,
    contract,
    log,
    engine: openEngine(settings, log, cluster.isPrimary, archivedStore(settings)),
  };
}

/** Throws ConfigError for plans that the store refuses, and StoreUnavailable while it can't say so. */
export async function askStore({ engine }: Base, { settings, plans }: Sources): Promise<void> {
  const refusal = await engine.refusal?.(settings.plans);
  if (refusal === undefined || refusal === null) return;
  const [file = 'plans'] = plans.files;
  const message = `Redis refuses the admission script of these plans: ${refusal}`;
  throw new ConfigError([{ file, line: 0, column: 0, path: '', message }], plans.files);
}

export async function applySettings(
  { log, engine, apply }: Base,
  settings: Settings,
  certificate: Certificate | null,
): Promise<void> {
  log.level = settings.log.level;
  engine.setPlans(settings.plans);
  await apply(settings, certificate);
}
