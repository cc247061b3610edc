import { createAdmit } from './admission/admit.js';
import { batchAdmission } from './admission/batch.js';
import { collectFailures } from './admission/failures.js';
import type { AdmissionEngine } from './admission/port.js';
import type { Settings } from './config/settings.js';
import { answerOptions, createDocumentAnswer } from './contract/answers.js';
import type { Contract } from './contract/load.js';
import type { Operation } from './contract/operation.js';
import { createRoute, MALFORMED, OPTIONS, UNMATCHED } from './contract/route.js';
import { createDocsAnswers } from './docs/answer.js';
import { createAddressReader } from './edge/address.js';
import { createListener } from './edge/listener.js';
import type { Listener } from './edge/listener.js';
import { strip } from './edge/strip.js';
import type { Exchange } from './exchange.js';
import { createIdentify } from './keys/identify.js';
import { createMetrics } from './observe/metrics.js';
import type { Metrics } from './observe/metrics.js';
import { createFinish } from './observe/record.js';
import { watchSaturation } from './observe/saturation.js';
import { pipeline } from './pipeline.js';
import { createForward } from './upstream/forward.js';
import type { OwnAnswer } from './upstream/forward.js';
import { openUpstreams } from './upstream/pools.js';
import type { Upstreams } from './upstream/pools.js';
import { createOwnUsage } from './usage/own.js';
import type { Log } from '../shared/log.js';

export interface AppParts {
  readonly settings: Settings;
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
  readonly upstreams: Upstreams;
  /** The pipeline's steps, in order, `open` and `finish` included. */
  readonly steps: readonly string[];
  /** Writes what is still to be written and lets go of the upstreams. The engine stays open. */
  close(): Promise<void>;
}

/** The composition root: the only file that sees every part. Builds, and listens to nothing yet. */
export function createApp(parts: AppParts): App {
  const { settings, engine, contract, log } = parts;
  const upstreams = openUpstreams(settings.upstreams);
  const metrics = createMetrics({ engine: engine.name, plans: settings.plans.keys(), ...operationLabels(contract.routes.operations), upstreams: upstreams.keys() });
  const addresses = createAddressReader(settings.trustedProxies);
  const admission = batchAdmission(engine, (size) => metrics.batch(size));
  const failures = collectFailures(engine, (count) => log.error({ count }, 'credits for failed requests were dropped: the store was away too long'));
  const ownAnswers = new Map<string, OwnAnswer>([
    ['options', answerOptions],
    ['getOpenapi', createDocumentAnswer(contract.document)],
    ...createDocsAnswers(contract, () => settings.plans),
    ['getOwnUsage', createOwnUsage(engine.usage)],
  ]);

  const isServed = ({ id, upstream }: Operation): boolean => (upstream === 'gateway' ? ownAnswers.has(id) : upstreams.has(upstream));

  const steps = pipeline<Exchange>()
    .then('strip', strip)
    .then('route', createRoute(contract.routes, isServed, parts.now ?? Date.now))
    .then('identify', createIdentify(settings.environment, settings.keys.acceptImported))
    .then('admit', createAdmit(admission, settings.realm, metrics.verdict))
    .then('forward', createForward(upstreams, ownAnswers, parts.internalToken, settings.limits.bodyBytes, metrics.upstreamFailed));
  const finish = createFinish(metrics, settings.log.access ? log : null, (failure) => failures.add(failure));

  const listener = createListener(settings.limits, addresses, {
    run: (exchange) => steps.run(exchange),
    showFigures: async (exchange) => {
      const subject = { kind: 'address', address: exchange.addressBucket } as const;
      const verdict = await admission.admit({ subject, operation: 'malformed', scope: null, cost: 0 }).catch(() => null);
      if (verdict === null || verdict.outcome === 'unknown_key') return;
      exchange.story.standing = verdict;
      exchange.story.judgedMs = performance.now();
    },
    finish,
    onBug: (error, exchange) => log.error({ err: error, request: exchange.id, operation: exchange.story.operation }, 'a request met a fault of the gateway'),
  });
  watchSaturation(metrics.registry, listener, upstreams, settings.limits);
  return {
    listener,
    metrics,
    upstreams,
    steps: ['open', ...steps.names, 'finish'],
    close: async () => {
      const lost = await failures.flush();
      if (lost > 0) log.error({ count: lost }, 'credits for failed requests were lost: the store is away');
      await Promise.all([...upstreams.values()].map((upstream) => upstream.close()));
    },
  };
}

/** What a metric can call an operation: those of the contract, and the names for requests that fit none. */
function operationLabels(operations: readonly Operation[]): { readonly operations: readonly string[]; readonly charged: readonly string[] } {
  const charged = operations.filter(({ cost }) => cost === 1).map(({ id }) => id);
  return { operations: [...operations.map(({ id }) => id), UNMATCHED, MALFORMED, OPTIONS], charged: [...charged, UNMATCHED] };
}
