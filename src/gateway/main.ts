import cluster from 'node:cluster';
import { Registry } from 'prom-client';
import { createApp } from './app.js';
import { applyAll, offerPlans, openBase, type Base } from './process/base.js';
import { loadSources } from './config/load.js';
import { ConfigError } from './config/files/problem.js';
import { createReloader, Unsettled, type Reloader } from './config/reload.js';
import type { Contract, LoadedContract } from './contract/load.js';
import { createContractReader, unsettledMs } from './contract/reader.js';
import { checkPrices } from './contract/prices.js';
import { narrows, planProblems } from './accounts/plans/losses.js';
import { watchProcess } from './observe/process.js';
import { RecentExchanges } from './observe/recent/memory.js';
import { recallHere } from './observe/recent/recall.js';
import { oversee } from './process/oversee.js';
import { openEngine } from './config/open-store.js';
import type { ServingEngine } from './store/port.js';
import { CUT_MS, drain, listen } from './process/listen.js';
import { archivedRows, archivedStore } from './usage/archive/ledger.js';
import { tuneV8 } from './process/v8.js';
import { startWorkers } from './workers/primary.js';
import { askPrimary, recallThroughPrimary, reportToPrimary, storeOfPrimary } from './workers/worker.js';
import { onStopSignal } from '../shared/exit.js';

/**
 * Runs the gateway process: settings → app → listen → signals. Resolves once it serves. Rejects with ConfigError,
 * InvalidSecret, StoreUnavailable, or Node's error for a port that is not available.
 */
export async function runGateway(environment: NodeJS.ProcessEnv): Promise<void> {
  tuneV8();
  if (cluster.isWorker) {
    // The whole process group may receive SIGHUP; only the primary acts on it.
    process.on('SIGHUP', () => undefined);
    // A message of Node's to a primary that was just killed. The end of the channel, which follows, ends this process.
    cluster.worker!.on('error', () => undefined);
    // New settings may arrive right after the first ones: they wait until `base` exists.
    const base: Promise<Base<ServingEngine>> = askPrimary(async (next) => applyAll(await base, next)).then((inForce) =>
      openBase(environment, inForce, storeOfPrimary),
    );
    await runWorker(await base);
    return;
  }
  const sources = loadSources(environment);
  const contracts = createContractReader();
  let contract = contracts.first(sources.settings);
  const warnings = checkPrices(sources, contract.routes.operations);
  const base = openBase(environment, { ...sources, contract }, (settings, log) =>
    openEngine(settings, log, archivedStore(settings), archivedRows(settings)),
  );
  warn(base, contract, warnings);
  const first = { ...sources, files: [...sources.files, ...contract.files] };
  const reloader = createReloader(environment, first, base.log, {
    check: async (read, { plans }) => {
      const next = await contracts.next(read.settings);
      const waitMs = unsettledMs(next, contract);
      if (waitMs > 0) throw new Unsettled(waitMs);
      const { operations } = next.routes;
      const files = [...read.files, ...next.files];
      const warned = withFiles(files, () => checkPrices(read, operations));
      await offerPlans(base, read);
      const problems = await planProblems(base.engine, read, isDearer(next, base) ? null : plans, operations);
      if (problems.length > 0) throw new ConfigError(problems, files);
      warn(base, next === contract ? null : next, warned);
      contract = next;
      return files;
    },
    narrows: (next, inForce) => contract !== base.contract || narrows(inForce.plans, next.plans, base.costs),
    unserved: (inForce) => planProblems(base.engine, inForce, null, base.contract.routes.operations),
    apply: (settings, certificate) => {
      base.engine.setPlans(settings.plans);
      return applyAll(base, { settings, certificate, contract });
    },
  });
  process.on('SIGHUP', () => void reloader.reload());
  await (base.settings.workers === 1 ? runSingleProcess(base, reloader) : runPrimary(base, reloader));
}

/** Whether a key's own limits may now be too small. */
function isDearer({ routes }: Contract, { costs }: Base): boolean {
  return routes.operations.some(({ id, cost }) => cost > (costs.get(id) ?? 1));
}

/** Runs `check`. Its ConfigError names all `files`, because the error may be in any of them. */
function withFiles<T>(files: readonly string[], check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw error instanceof ConfigError ? new ConfigError(error.problems, files) : error;
  }
}

/** Maximum contract warnings logged: more would flood the log. `petgate config check` prints all. */
const FEW = 20;

/** @param contract null if it has not changed */
function warn({ log }: Base, contract: LoadedContract | null, problems: readonly string[]): void {
  const count = contract?.warnings.length ?? 0;
  if (count > 0)
    log.warn({ count, problems: contract?.warnings.slice(0, FEW) }, 'parts of the contract are not served as written');
  if (problems.length > 0) log.warn({ problems }, 'plans name operations that the contract does not have');
}

function runSingleProcess(base: Base, reloader: Reloader): Promise<void> {
  const recent = new RecentExchanges();
  const recall = recallHere(recent);
  const app = createApp({ ...base, recent, recall });
  const { registry } = app.metrics;
  const { listen: address, shutdown } = base.settings;
  return oversee(base, reloader, {
    registry,
    apply: (next) => app.apply(next),
    upstreams: () => app.upstreams(),
    metrics: () => registry.metrics(),
    recall,
    listen: () => listen(app.listener.server, address),
    drain: () => drain(app, shutdown),
  });
}

function runPrimary(base: Base, reloader: Reloader): Promise<void> {
  const registry = new Registry();
  const workers = startWorkers(base, base.engine, registry, base.log);
  return oversee(base, reloader, {
    registry,
    apply: (next) => workers.apply(next),
    upstreams: () => new Map(),
    metrics: () => workers.metrics(),
    recall: (question) => workers.recall(question),
    listen: () => workers.listening,
    drain: () => workers.stop(base.settings.shutdown + CUT_MS + 1000),
  });
}

async function runWorker(base: Base<ServingEngine>): Promise<void> {
  const { settings } = base;
  const recent = new RecentExchanges();
  const app = createApp({ ...base, recent, recall: recallThroughPrimary(recent) });
  base.apply = (next) => app.apply(next);
  watchProcess(app.metrics.registry, {});
  const report = reportToPrimary(app.metrics.registry);
  report.listening(await listen(app.listener.server, settings.listen));
  const stop = async (): Promise<void> => {
    await drain(app, settings.shutdown);
    await report.stop();
    process.disconnect();
  };
  onStopSignal(stop);
}
