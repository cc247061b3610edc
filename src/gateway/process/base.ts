import cluster from 'node:cluster';
import type { Engine } from '../config/open-store.js';
import { fileProblem } from '../config/files/problem.js';
import { ConfigError, type Sources } from '../config/load.js';
import type { Settings } from '../config/schema/gateway.js';
import type { Contract } from '../contract/load.js';
import { readSecrets, type Secrets } from './secrets.js';
import type { Configuration } from '../workers/message.js';
import { createLog, type Log } from '../../shared/log.js';

/** What every gateway process starts with. A reload replaces only the contract; the reloader has current settings. */
export interface Base<Store = Engine> extends Configuration, Secrets {
  /** The contract in force. */
  contract: Contract;
  /** Costs and scopes of the contract's operations, updated in place. */
  readonly costs: Map<string, number>;
  readonly scopes: string[];
  /** Applies a new configuration to the listener or the workers. Resolves once all of it is in force. */
  apply: (next: Configuration) => Promise<void> | void;
  readonly log: Log;
  readonly engine: Store;
}

/** Throws InvalidSecret, and errors of `openStore`. */
export function openBase<Store>(
  environment: NodeJS.ProcessEnv,
  { settings, certificate, contract }: Configuration,
  openStore: (settings: Settings, log: Log) => Store,
): Base<Store> {
  const log = createLog('gateway', settings.log.level);
  // Workers send no events.
  const secrets = readSecrets(environment, {
    data: settings.data,
    events: cluster.isPrimary ? settings.events : undefined,
  });
  const base: Base<Store> = {
    ...secrets,
    settings,
    certificate,
    apply: () => undefined,
    contract,
    costs: new Map(),
    scopes: [],
    log,
    engine: openStore(settings, log),
  };
  setContract(base, contract);
  return base;
}

function setContract(base: Base<unknown>, contract: Contract): void {
  const { operations } = contract.routes;
  base.contract = contract;
  base.costs.clear();
  for (const { id, cost } of operations) base.costs.set(id, cost);
  base.scopes.splice(0, Infinity, ...new Set(operations.flatMap(({ scope }) => scope ?? [])));
}

/** Throws ConfigError if the store refuses the plans, StoreUnavailable if it does not respond. */
export async function offerPlans({ engine }: Base, { settings, plans }: Sources): Promise<void> {
  const refusal = await engine.refusal?.(settings.plans);
  if (refusal === undefined || refusal === null) return;
  const [file = 'plans'] = plans.files;
  const message = `Redis refuses the admission script of these plans: ${refusal}`;
  throw new ConfigError([fileProblem(file, message)], plans.files);
}

export async function applyAll(base: Base<unknown>, next: Configuration): Promise<void> {
  const { settings, contract } = next;
  base.log.level = settings.log.level;
  setContract(base, contract);
  await base.apply(next);
}
