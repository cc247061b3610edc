import { batchAdmission } from './admission/batch.js';
import { trackLeases } from './store/leases.js';
import { collectSettlements } from './store/settlements.js';
import type { ServingEngine } from './store/port.js';
import type { Certificate } from './config/certificate.js';
import type { Settings } from './config/schema/gateway.js';
import type { Contract } from './contract/load.js';
import { createListener } from './edge/server/listener.js';
import { buildHandler, type HandlerDependencies } from './process/handler.js';
import { countUnproxied, watchListener, watchTls } from './observe/metrics/listener.js';
import { createMetrics } from './observe/metrics/metrics.js';
import { logReplaced } from './observe/metrics/replaced.js';
import { watchAddresses, watchUpstreams } from './observe/metrics/upstreams.js';
import { openUpstreams, retireUpstreams, type Upstreams } from './upstream/pools.js';
import { BillsSoFar } from './usage/so-far.js';
import { createOwnUsage } from './usage/own.js';
import type { Configuration } from './workers/message.js';

interface AppParts extends Pick<HandlerDependencies, 'internalToken' | 'log' | 'now' | 'recent' | 'recall'> {
  readonly contract: Contract;
  readonly settings: Settings;
  /** For the public listener; plain HTTP if absent or null. */
  readonly certificate?: Certificate | null;
  readonly engine: ServingEngine;
}

export type App = ReturnType<typeof createApp>;

/** The composition root: creates what survives a reload, and the handler that each reload rebuilds. Does not listen. */
export function createApp(parts: AppParts) {
  const { settings, engine, contract, log } = parts;
  const metrics = createMetrics({
    engine: engine.name,
    plans: settings.plans.keys(),
    upstreams: Object.keys(settings.upstreams),
    maxOperations: settings.metrics.operations,
  });
  metrics.nameOperations(namesOf(contract));
  const admission = batchAdmission(engine, (size) => metrics.batch(size));
  const settlements = collectSettlements(engine, (count) =>
    log.error({ count }, 'the ends of requests were not counted: the store was unavailable too long'),
  );
  const leases = trackLeases(engine, (error) => log.error({ err: error }, 'leases could not be renewed'));
  let { plans } = settings;
  const bills = new BillsSoFar(engine, () => plans);
  const dependencies: HandlerDependencies = {
    ...parts,
    metrics,
    admission,
    settlements,
    leases,
    bills,
    ownUsage: createOwnUsage(engine.failover?.ownUsage ?? engine.usage, bills),
    onReplaced: logReplaced(log),
  };

  const events = watchAddresses(metrics.registry, Object.keys(settings.upstreams), log);
  let built = buildHandler(dependencies, contract, settings, openUpstreams(usedBy(contract, settings), events));
  let certificate = parts.certificate ?? null;
  const security = certificate === null ? null : { certificate, http2: settings.tls?.http2 === true };
  const listener = createListener(
    () => built.handler,
    security,
    settings.listen.proxy_protocol ? countUnproxied(metrics.registry) : null,
  );
  if (certificate !== null) watchTls(metrics.registry, listener.server, () => certificate!);
  watchListener(metrics.registry, listener, () => built.handler.limits);
  watchUpstreams(metrics.registry, () => built.upstreams);
  return {
    listener,
    metrics,
    upstreams: (): Upstreams => built.upstreams,
    /** Applies settings and contract to every new exchange, and the certificate to every new connection. */
    apply: ({ settings: next, certificate: inForce, contract: offered }: Configuration): void => {
      const { upstreams: before, handler } = built;
      metrics.nameOperations(namesOf(offered));
      ({ plans } = next);
      built = buildHandler(dependencies, offered, next, openUpstreams(usedBy(offered, next), events, before));
      // Longer than an exchange of the old handler needs to reach its upstream.
      retireUpstreams(before, built.upstreams, 2 * handler.limits.request_time);
      certificate = inForce;
      listener.retune(certificate);
    },
    /** Flushes what is pending and closes the upstreams. The engine stays open. */
    close: async (): Promise<void> => {
      const [lost] = await Promise.all([settlements.flush(), leases.stop()]);
      if (lost > 0) log.error({ count: lost }, 'the ends of requests were not counted: the store is unavailable');
      for (const upstream of built.upstreams.values()) upstream.close();
    },
  };
}

/** Returns the upstreams that an operation uses: the gateway neither waits for nor watches the others. */
function usedBy({ routes }: Contract, { upstreams }: Settings): Settings['upstreams'] {
  const used = new Set(routes.operations.map(({ upstream }) => upstream));
  return Object.fromEntries(Object.entries(upstreams).filter(([name]) => used.has(name)));
}

function namesOf({ routes }: Contract): readonly string[] {
  return routes.operations.map(({ id }) => id);
}
