import cluster from 'node:cluster';
import { setFlagsFromString } from 'node:v8';
import { Registry } from 'prom-client';
import { createApp } from './app.js';
import { applySettings, askStore, openBase, type Base } from './base.js';
import { loadSources } from './config/load.js';
import { ConfigError } from './config/files/problem.js';
import { createReloader, type Reloader } from './config/reload.js';
import { loadContract } from './contract/load.js';
import { checkPrices } from './contract/prices.js';
import { narrows, planProblems } from './accounts/plans/losses.js';
import { watchProcess } from './observe/process.js';
import { oversee } from './oversee.js';
import { drain, listen } from './server.js';
import { startWorkers } from './workers/primary.js';
import { askPrimary, reportToPrimary } from './workers/worker.js';
import { onStopSignal } from '../shared/exit.js';

/**
 * The gateway process: settings → app → listen → signals. Resolves once it serves. Rejects with ConfigError,
 * InvalidSecret, StoreUnavailable or Node's error for a port that cannot be had.
 */
export async function runGateway(environment: NodeJS.ProcessEnv): Promise<void> {
  // V8 errs with this in the first seconds of some gateways, and then keeps every request until a full collection.
  setFlagsFromString('--no-allocation-site-pretenuring');
  // Young collections are many (20 to 30 a second) and small: waking a second thread for them costs 4 % of a request.
  setFlagsFromString('--no-parallel-scavenge');
  if (cluster.isWorker) {
    // The whole group of processes may be sent it; the primary is the one that acts on it.
    process.on('SIGHUP', () => undefined);
    // New settings may come in the same breath as the first: they wait until there is something to apply them to.
    const base: Promise<Base> = askPrimary(async ({ settings, certificate }) =>
      applySettings(await base, settings, certificate),
    ).then((inForce) => openBase(environment, inForce));
    await runWorker(await base);
    return;
  }
  const sources = loadSources(environment);
  const contract = loadContract(sources.settings.contract, sources.settings.upstreams);
  const { operations } = contract.routes;
  const costs = new Map(operations.map(({ id, cost }) => [id, cost]));
  const warnings = checkPrices(sources, operations);
  const base = openBase(environment, { ...sources, contract });
  warn(base, warnings);
  const reloader = createReloader(environment, sources, base.log, {
    check: async (read, { plans }) => {
      const warned = checkPrices(read, operations);
      await askStore(base, read);
      const problems = await planProblems(base.engine, read, plans, operations);
      if (problems.length > 0) throw new ConfigError(problems, read.files);
      warn(base, warned);
    },
    narrows: (next, inForce) => narrows(inForce.plans, next.plans, costs),
    unserved: (inForce) => planProblems(base.engine, inForce, null, operations),
    apply: (settings, certificate) => applySettings(base, settings, certificate),
  });
  process.on('SIGHUP', () => void reloader.reload());
  await (base.settings.workers === 1 ? runSingleProcess(base, reloader) : runPrimary(base, reloader));
}

function warn({ log }: Base, problems: readonly string[]): void {
  if (problems.length > 0) log.warn({ problems }, 'plans speak of operations that the contract does not have');
}

function runSingleProcess(base: Base, reloader: Reloader): Promise<void> {
  const app = createApp(base);
  const { registry } = app.metrics;
  const { listen: address, shutdownMs } = base.settings;
  return oversee(base, reloader, {
    registry,
    apply: (next, certificate) => app.apply(next, certificate),
    upstreams: () => app.upstreams(),
    metrics: () => registry.metrics(),
    listen: () => listen(app.listener.server, address),
    drain: () => drain(app, shutdownMs),
  });
}

function runPrimary(base: Base, reloader: Reloader): Promise<void> {
  const registry = new Registry();
  const workers = startWorkers(base, registry, base.log);
  return oversee(base, reloader, {
    registry,
    apply: (next, certificate) => workers.apply(next, certificate),
    upstreams: () => new Map(),
    metrics: () => workers.metrics(),
    listen: () => workers.listening,
    drain: () => workers.stop(base.settings.shutdownMs + 1000),
  });
}

async function runWorker(base: Base): Promise<void> {
  const { settings, engine } = base;
  const app = createApp(base);
  base.apply = (next, certificate) => app.apply(next, certificate);
  watchProcess(app.metrics.registry, engine);
  const report = reportToPrimary(app.metrics.registry);
  report.listening(await listen(app.listener.server, settings.listen));
  const stop = async (): Promise<void> => {
    await drain(app, settings.shutdownMs);
    await report.stop();
    await engine.close();
    process.disconnect();
  };
  onStopSignal(stop);
}
