import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { Registry } from 'prom-client';
import type { AdminParts } from './admin/route.js';
import { openEngine } from './admission/engines/open.js';
import type { Engine } from './admission/engines/open.js';
import { createApp } from './app.js';
import type { Certificate } from './config/certificate.js';
import { loadSources } from './config/load.js';
import type { Sources } from './config/load.js';
import { createReloader } from './config/reload.js';
import type { Reloader } from './config/reload.js';
import type { Settings } from './config/settings.js';
import { loadContract } from './contract/load.js';
import { checkPrices } from './contract/prices.js';
import type { Deliverer } from './events/deliverer.js';
import { readEventSecrets } from './events/secrets.js';
import { watchHealth } from './health.js';
import { KeyRegistry } from './keys/registry.js';
import { watchGateway, watchProcess } from './observe/process.js';
import { drain, listen } from './server.js';
import type { Upstreams } from './upstream/pools.js';
import { keepArchive } from './archive/keeper.js';
import { runArchiveTask } from './archive/task.js';
import { watchArchive } from './observe/archive.js';
import { runTask } from './usage/task.js';
import type { InForce } from './workers/message.js';
import { startWorkers } from './workers/primary.js';
import { askPrimary, reportToPrimary } from './workers/worker.js';
import { createLog } from '../shared/log.js';
import type { Log } from '../shared/log.js';
import { onStopSignal } from '../shared/stop.js';
import { readSecret } from '../shared/secret-file.js';

/** What every gateway process starts from; what may change while it runs is the reloader's. */
interface Base extends InForce {
  /** Set by the process that serves the public, or keeps those that do: how it applies new settings. Resolves when they are in force. */
  apply: (settings: Settings, certificate: Certificate | null) => Promise<void> | void;
  readonly log: Log;
  readonly engine: Engine;
  readonly internalToken: string;
  readonly adminToken: string;
  /** What events are signed with; none without events, and in workers. */
  readonly eventKeys: readonly Buffer[];
}

/**
 * The gateway process: settings → app → listen → signals. Resolves once it serves.
 * Rejects with ConfigError, BadSecret, StoreUnavailable or Node's error for a port that cannot be had.
 */
export async function runGateway(environment: NodeJS.ProcessEnv): Promise<void> {
  // V8 puts what seems to live long among the old at once. It errs in the first seconds of some gateways, and then keeps every request until a full collection.
  setFlagsFromString('--no-allocation-site-pretenuring');
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
  const check = (read: Sources): void => checkPrices(read, contract.routes.operations);
  check(sources);
  const base = openBase(environment, { ...sources, contract });
  const reloader = createReloader(environment, sources, base.log, check, (settings, certificate) =>
    applySettings(base, settings, certificate),
  );
  process.on('SIGHUP', () => reloader.reload());
  await (base.settings.workers === 1 ? runAlone(base, reloader) : runPrimary(base, reloader));
}

function openBase(environment: NodeJS.ProcessEnv, { settings, certificate, contract }: InForce): Base {
  const log = createLog('gateway', settings.log.level);
  return {
    settings,
    certificate,
    apply: () => undefined,
    contract,
    log,
    engine: openEngine(settings, log, cluster.isPrimary),
    internalToken: readSecret(environment, 'PETGATE_INTERNAL_TOKEN', settings.dataFolder, 'internal-token'),
    eventKeys: settings.events !== null && cluster.isPrimary ? readEventSecrets(environment, settings.dataFolder) : [],
    adminToken: readSecret(environment, 'PETGATE_ADMIN_TOKEN', settings.dataFolder, 'admin-token'),
  };
}

async function applySettings(
  { log, engine, apply }: Base,
  settings: Settings,
  certificate: Certificate | null,
): Promise<void> {
  log.level = settings.log.level;
  engine.setPlans(settings.plans);
  await apply(settings, certificate);
}

/** What serves the public, in this process or in workers of it. */
interface PublicSide {
  readonly registry: Registry;
  readonly apply: Base['apply'];
  readonly upstreams: () => Upstreams;
  /** All that was measured, in Prometheus' text form. */
  readonly metrics: () => Promise<string>;
  /** Resolves with the public port once it is open. */
  readonly listen: () => Promise<number>;
  /** Lets what is in flight end, and closes. */
  readonly drain: () => Promise<void>;
}

/** One process serves both listeners. */
function runAlone(base: Base, reloader: Reloader): Promise<void> {
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

/** Serves the operators, and keeps the workers that serve the public. */
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

/** The process that reads the files, checks the store and serves the operators. */
async function oversee(base: Base, reloader: Reloader, side: PublicSide): Promise<void> {
  const { settings, log, engine } = base;
  base.apply = side.apply;
  const health = watchHealth(engine, side.upstreams, () => reloader.state());
  watchProcess(side.registry, settings, engine.failover);
  watchGateway(side.registry, engine, health, () => reloader.state());
  const keeper = settings.store.archive === null ? undefined : keepArchive(settings, log);
  if (keeper !== undefined) watchArchive(side.registry, () => keeper.state());
  const deliverer = await beginEvents(base, side.registry);
  const admin = await openAdmin(base, reloader, side.metrics, () => health.readiness());
  announce(base, await side.listen(), admin);
  health.serving();
  onStopSignal(async () => {
    health.drain();
    await side.drain();
    health.stop();
    keeper?.stop();
    await closeAdmin(admin);
    await deliverer?.stop();
    await engine.close();
    log.info('stopped');
  });
}

async function beginEvents(base: Base, registry: Registry): Promise<Deliverer | undefined> {
  const { settings, eventKeys: keys, engine, log } = base;
  const { events, environment } = settings;
  if (events === null) return undefined;
  // It loads undici, which takes a while.
  const { openEvents } = await import('./events/open.js');
  return openEvents({
    ...{ settings: events, keys, environment },
    ...{ outbox: engine.outbox, customers: engine.customers },
    ...{ registry, log },
  });
}

async function runWorker(base: Base): Promise<void> {
  const { settings, engine } = base;
  const app = createApp(base);
  base.apply = (next, certificate) => app.apply(next, certificate);
  watchProcess(app.metrics.registry, settings, engine.failover);
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

async function openAdmin(
  base: Base,
  reloader: Reloader,
  metrics: () => Promise<string>,
  ready: () => ReturnType<ReturnType<typeof watchHealth>['readiness']>,
): Promise<Server> {
  const { settings, contract, engine, log, adminToken } = base;
  const scopes = [...new Set(contract.routes.operations.flatMap(({ scope }) => scope ?? []))];
  const registry = new KeyRegistry({
    engine,
    plans: () => reloader.settings().plans,
    scopes,
    costs: new Map(contract.routes.operations.map(({ id, cost }) => [id, cost])),
    environment: settings.environment,
    acceptImported: settings.keys.acceptImported,
    events: settings.events,
  });
  const ledger = { dataFolder: settings.dataFolder, store: settings.store };
  const report: AdminParts['report'] = (format, range, keyId) => runTask({ format, range, keyId, settings: ledger });
  const archive: AdminParts['archive'] = (task) => runArchiveTask({ ...task, settings: ledger });
  // Only here: workers have no such listener, and fastify takes 19 MB.
  const { createAdmin } = await import('./admin/server.js');
  const admin = await createAdmin({ registry, engine, token: adminToken, metrics, ready, log, report, archive });
  await listen(admin, settings.admin);
  return admin;
}

async function closeAdmin(admin: Server): Promise<void> {
  admin.closeAllConnections();
  await new Promise<void>((resolve) => admin.close(() => resolve()));
}

function announce({ settings, certificate, engine, log }: Base, port: number, admin: Server): void {
  log.info(
    {
      public: `${settings.listen.host}:${port}`,
      admin: `${settings.admin.host}:${(admin.address() as AddressInfo).port}`,
      ...(certificate === null ? {} : { tls: certificate.summary() }),
      engine: engine.name,
      workers: settings.workers,
      cpus: availableParallelism(),
      environment: settings.environment,
      upstreams: Object.fromEntries(
        Object.entries(settings.upstreams).map(([name, { addresses }]) => [name, addresses]),
      ),
      plans: [...settings.plans.keys()],
      node: process.version,
    },
    'serving',
  );
}
