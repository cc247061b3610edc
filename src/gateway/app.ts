import { createAdmit } from './admission/admit.js';
import { batchAdmission } from './admission/batch.js';
import type { Admission } from './admission/batch.js';
import { collectFailures } from './store/failures.js';
import type { Failures } from './store/failures.js';
import type { AdmissionEngine } from './store/port.js';
import type { Certificate } from './config/certificate.js';
import type { Settings } from './config/settings.js';
import { createDocumentAnswer, createOptionsAnswer } from './contract/answers.js';
import type { Contract } from './contract/load.js';
import type { Operation } from './contract/operation.js';
import { createRoute, MALFORMED, OPTIONS, OWN_USAGE, UNMATCHED } from './contract/route.js';
import { createDocsAnswers } from './docs/answer.js';
import { createAddressReader } from './edge/client-address.js';
import { createCors } from './edge/cors.js';
import type { Handler } from './edge/handler.js';
import { createListener } from './edge/listener.js';
import type { Listener } from './edge/listener.js';
import { strip } from './edge/strip.js';
import type { Exchange, Identified } from './exchange.js';
import { createIdentify } from './accounts/identify.js';
import { countUnproxied, watchListener, watchTls } from './observe/listener.js';
import { createMetrics } from './observe/metrics.js';
import type { Metrics } from './observe/metrics.js';
import { createFinish, createTunnelOpened } from './observe/finish.js';
import { logReplaced } from './observe/replaced.js';
import { watchBreakers, watchUpstreams } from './observe/upstreams.js';
import { pipeline } from './pipeline.js';
import type { OnReplaced } from './upstream/attempt.js';
import { createForward, createReserve } from './upstream/forward.js';
import type { OwnAnswer } from './upstream/forward.js';
import { openUpstreams, retireUpstreams } from './upstream/pools.js';
import type { Upstreams } from './upstream/pools.js';
import { createOwnUsage } from './usage/own.js';
import type { Log } from '../shared/log.js';
import { writeLine } from '../shared/log-lines.js';

interface AppParts {
  readonly settings: Settings;
  /** Of the public listener; plain HTTP when left out or null. */
  readonly certificate?: Certificate | null;
  readonly engine: AdmissionEngine;
  readonly contract: Contract;
  readonly internalToken: string;
  readonly log: Log;
  /** Unix ms, for sunset dates; the real clock when left out. */
  readonly now?: () => number;
}

export interface App {
  readonly listener: Listener;
  readonly metrics: Metrics;
  /** Those of the settings in force. */
  upstreams(): Upstreams;
  /** Puts other settings into force for every exchange that begins from now on, and a certificate for every new connection. */
  apply(settings: Settings, certificate: Certificate | null): void;
  /** Writes what is still to be written and lets go of the upstreams. The engine stays open. */
  close(): Promise<void>;
}

/** What outlives a change of the settings. */
interface Lasting extends AppParts {
  readonly metrics: Metrics;
  readonly admission: Admission;
  readonly failures: Failures;
  readonly ownUsage: OwnAnswer;
  readonly onReplaced: OnReplaced;
}

/** A handler with the upstreams that it forwards to. */
interface Built {
  readonly handler: Handler;
  readonly upstreams: Upstreams;
}

/** The composition root: the only file that sees every part. Builds, and listens to nothing yet. */
export function createApp(parts: AppParts): App {
  const { settings, engine, contract, log } = parts;
  const metrics = createMetrics({
    engine: engine.name,
    plans: settings.plans.keys(),
    ...operationLabels(contract.routes.operations),
    upstreams: Object.keys(settings.upstreams),
  });
  const admission = batchAdmission(engine, (size) => metrics.batch(size));
  const failures = collectFailures(engine, (count) =>
    log.error({ count }, 'credits for failed requests were dropped: the store was away too long'),
  );
  const lasting: Lasting = {
    ...parts,
    metrics,
    admission,
    failures,
    ownUsage: createOwnUsage(engine.failover?.ownUsage ?? engine.usage),
    onReplaced: logReplaced(log, parts.internalToken),
  };

  const onBreakerChange = watchBreakers(metrics.registry, Object.keys(settings.upstreams), log);
  let built = buildHandler(lasting, settings, openUpstreams(settings.upstreams, onBreakerChange));
  let certificate = parts.certificate ?? null;
  const security = certificate === null ? null : { certificate, http2: settings.http2 };
  const listener = createListener(
    () => built.handler,
    security,
    settings.listen.proxyProtocol ? countUnproxied(metrics.registry) : null,
  );
  if (certificate !== null) watchTls(metrics.registry, listener.server, () => certificate!);
  watchListener(metrics.registry, listener, () => built.handler.limits);
  watchUpstreams(metrics.registry, () => built.upstreams);
  return {
    listener,
    metrics,
    upstreams: () => built.upstreams,
    apply: (next, inForce) => {
      const { upstreams: before, handler } = built;
      built = buildHandler(lasting, next, openUpstreams(next.upstreams, onBreakerChange, before));
      // Longer than an exchange of the old handler can take to get to its upstream.
      retireUpstreams(before, built.upstreams, 2 * handler.limits.requestMs);
      certificate = inForce;
      listener.retune(certificate);
    },
    close: async () => {
      const lost = await failures.flush();
      if (lost > 0) log.error({ count: lost }, 'credits for failed requests were lost: the store is away');
      for (const upstream of built.upstreams.values()) upstream.close();
    },
  };
}

/** The way of every request under these settings. */
function buildHandler(parts: Lasting, settings: Settings, upstreams: Upstreams): Built {
  const { contract, log, metrics, admission, failures } = parts;
  const cors = settings.cors === null ? null : createCors(settings.cors);
  const ownAnswers = new Map<string, OwnAnswer>([
    ['options', createOptionsAnswer(cors)],
    ['getOpenapi', createDocumentAnswer(contract.document)],
    ...createDocsAnswers(contract, settings.plans),
    [OWN_USAGE, parts.ownUsage],
  ]);
  const isServed = ({ id, upstream }: Operation): boolean =>
    upstream === 'gateway' ? ownAnswers.has(id) : upstreams.has(upstream);

  const run = pipeline({
    strip,
    route: createRoute(contract.routes, isServed, parts.now ?? Date.now),
    identify: createIdentify(settings.environment, settings.keys.acceptImported),
    admit: createAdmit(
      admission,
      settings.realm,
      metrics.verdict,
      createReserve(upstreams, settings.limits.bodyBytes, metrics.upstreamFailed),
    ),
    forward: createForward(
      upstreams,
      ownAnswers,
      parts.internalToken,
      settings.limits.bodyBytes,
      metrics.upstreamFailed,
      parts.onReplaced,
    ),
  });
  const access =
    settings.log.access && log.isLevelEnabled('info') ? { write: writeLine, sampled: settings.log.sampled } : null;
  const finish = createFinish(metrics, access, (failure) => failures.add(failure));
  const handler: Handler = {
    limits: settings.limits,
    addresses: createAddressReader(settings.trustedProxies),
    cors,
    run,
    readVerdict: (exchange) => readVerdict(admission, exchange),
    allowsTunnel: (path) => allowsTunnel(contract, path),
    tunnelOpened: createTunnelOpened(metrics),
    mayKeepTunnel: (exchange) => mayKeepTunnel(admission, exchange as Identified),
    finish,
    onBug: (error, exchange) =>
      log.error(
        { err: error, request: exchange.id, operation: exchange.logEntry.operation },
        'a request met a fault of the gateway',
      ),
  };
  return { handler, upstreams };
}

/** For what Node refused before a request could be read: the figures of the address, without a token. */
async function readVerdict(admission: Admission, exchange: Exchange): Promise<void> {
  const subject = { kind: 'address', address: exchange.addressBucket } as const;
  const verdict = await admission.admit({ subject, operation: MALFORMED, scope: null, cost: 0 }).catch(() => null);
  if (verdict === null || verdict.outcome === 'unknown_key') return;
  exchange.logEntry.verdict = verdict;
  exchange.logEntry.decidedMs = performance.now();
}

function allowsTunnel({ routes }: Contract, path: string): boolean {
  const match = routes.match('GET', path);
  return match.kind === 'operation' && match.operation.websocket;
}

/** Whether the key that opened a tunnel could open it now, asked without a token. While the store is away nothing speaks against it. */
async function mayKeepTunnel(
  admission: Admission,
  { subject, requirements: { operation, scope } }: Identified,
): Promise<boolean> {
  const verdict = await admission.admit({ subject, operation, scope, cost: 0 }).catch(() => null);
  if (verdict === null) return true;
  return verdict.outcome !== 'unknown_key' && verdict.outcome !== 'banned' && verdict.inScope;
}

/** What a metric can call an operation: those of the contract, and the names for requests that fit none. */
function operationLabels(operations: readonly Operation[]): {
  readonly operations: readonly string[];
  readonly charged: readonly string[];
  readonly tunnelled: readonly string[];
} {
  const charged = operations.filter(({ cost }) => cost > 0).map(({ id }) => id);
  return {
    operations: [...operations.map(({ id }) => id), UNMATCHED, MALFORMED, OPTIONS],
    charged: [...charged, UNMATCHED],
    tunnelled: operations.filter(({ websocket }) => websocket).map(({ id }) => id),
  };
}
