import { Audit } from '../actions/access/audit.js';
import { availableParallelism } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import type { AdminParts } from '../actions/action.js';
import { lackingText } from '../usage/archive/lacking.js';
import { maintainArchive, type ArchiveState } from '../usage/tasks/maintain-archive.js';
import { handoverOf } from './handover.js';
import type { Base } from './base.js';
import type { Reloader } from '../config/reload.js';
import type { Deliverer } from '../events/deliverer.js';
import { watchHealth } from '../observe/health.js';
import { KeyRegistry } from '../accounts/keys/registry.js';
import { watchArchive, watchUnarchived } from '../usage/tasks/archive-metrics.js';
import { runningBy, watchInfo } from '../observe/metrics/info.js';
import type { Recall } from '../observe/recent/recall.js';
import { watchGateway, watchProcess } from '../observe/process.js';
import { listen } from './listen.js';
import type { Upstreams } from '../upstream/pools.js';
import { runTask } from '../usage/tasks/task.js';
import { onStopSignal } from '../../shared/exit.js';

/** The public listener, in this process or in its workers. */
interface PublicSide {
  readonly registry: Registry;
  readonly apply: Base['apply'];
  readonly upstreams: () => Upstreams;
  /** All metrics, in Prometheus' text format. */
  readonly metrics: () => Promise<string>;
  readonly recall: Recall;
  /** Resolves with the public port once it is open. */
  readonly listen: () => Promise<number>;
  readonly drain: () => Promise<void>;
}

/** Runs the process that reads the files, checks the store and serves operators. */
export async function oversee(base: Base, reloader: Reloader, side: PublicSide): Promise<void> {
  const { log, engine } = base;
  base.apply = side.apply;
  const archive = beginArchive(base, side.registry);
  const health = watchHealth(engine, side.upstreams, reloader.state, () => archive && troubleOf(archive.state()));
  const running = runningBy(reloader.settings, () => base.contract.hash);
  watchInfo(side.registry, base.settings.environment, running);
  engine.failover?.announce(running);
  watchProcess(side.registry, engine);
  watchGateway(side.registry, engine, health, reloader.state);
  const events = await beginEvents(base, side.registry);
  const { metrics, recall } = side;
  const admin = await openAdmin(base, reloader, { metrics, recall, running, ready: health.readiness });
  announce(base, await side.listen(), admin);
  health.serving();
  onStopSignal(async () => {
    health.drain();
    await setTimeout(base.settings.drain);
    await side.drain();
    void health.stop();
    archive?.stop();
    await closeAdmin(admin);
    await events?.stop();
    await engine.close();
    log.info('stopped');
  });
}

/** Moves past days of the ledger to the archive. Without one, Redis expires them. */
function beginArchive(
  { settings, log, engine }: Base,
  registry: Registry,
): ReturnType<typeof maintainArchive> | undefined {
  const { redis, archive } = settings.store;
  const unarchived = redis !== undefined && archive === undefined;
  watchUnarchived(registry, unarchived);
  if (unarchived)
    log.warn(
      'the usage ledger is not being archived: Redis keeps it in memory for store.usage, then deletes it; ' +
        'set LEDGER_URL, or set store.archive to off',
    );
  if (typeof archive !== 'string') return undefined;
  const maintenance = maintainArchive(settings, engine.transfer.archive, log);
  watchArchive(registry, () => maintenance.state());
  return maintenance;
}

function troubleOf({ lacking }: ArchiveState): string | null {
  return lacking.length === 0 ? null : lackingText(lacking);
}

async function beginEvents(base: Base, registry: Registry): Promise<Deliverer | undefined> {
  const { settings, eventKeys: keys, engine, log } = base;
  const { events, environment } = settings;
  if (events === undefined) return undefined;
  // Imported here: loading undici takes a while.
  const { openEvents } = await import('../events/open-events.js');
  return openEvents({ settings: events, keys, environment, outbox: engine.outbox, registry, log });
}

async function openAdmin(
  base: Base,
  reloader: Reloader,
  shown: Pick<AdminParts, 'metrics' | 'recall' | 'ready' | 'running'>,
): Promise<Server> {
  const { settings, engine, log, adminToken, scopes, costs } = base;
  const registry = new KeyRegistry({
    engine,
    plans: () => reloader.settings().plans,
    scopes,
    costs,
    environment: settings.environment,
    acceptImported: settings.keys.accept_imported,
    emitsEvents: settings.events !== undefined,
  });
  const ledger = { data: settings.data, store: settings.store };
  // Only the gateway reads the embedded store, and it gives requests priority.
  const reports: Pick<AdminParts, 'report' | 'rehearsal'> =
    engine.name === 'embedded'
      ? {}
      : {
          report: (format, range) => runTask({ kind: 'report', format, range, settings: ledger }),
          rehearsal: (script) => runTask({ kind: 'rehearsal', script, settings: ledger }),
        };
  const archive: AdminParts['archive'] = (task) => runTask({ ...task, settings: ledger });
  // Imported here: workers have no admin listener, and fastify takes 19 MB.
  const { createAdmin } = await import('../admin/server.js');
  const { createConsole } = await import('../console/open.js');
  const hosts = [settings.admin.host, ...settings.admin.hosts];
  const parts = {
    ...shown,
    ...reports,
    ...{ registry, engine, hosts, archive, log, token: adminToken },
    handover: () => handoverOf(base),
    audit: new Audit(settings.data, engine.failover?.notes),
  };
  const admin = await createAdmin(parts, createConsole(settings.data));
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
