import { Registry } from 'prom-client';
import { counterOf } from '../../../shared/metrics/gauge.js';
import { OTHER } from '../../contract/names.js';
import { MALFORMED, OPTIONS, UNMATCHED } from '../../contract/route.js';
import { REASONS, type UpstreamReason } from '../../refusals/reasons.js';
import { REFUSALS } from '../../refusal.js';
import { UPSTREAM_FAILURES, type UpstreamFailure } from '../../upstream/addresses/failure.js';
import { QuickCounter } from './counter.js';
import { cachedByLabels } from './cached-by-labels.js';
import { QuickHistogram } from './histogram.js';
import { countSettlements } from './settlements.js';
import { countVerdicts } from './verdicts.js';

/** Seconds. Admission is a store round trip; a whole exchange includes the upstream. */
const ADMISSION_BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25];
const EXCHANGE_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];
const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const CLASSES = ['2xx', '4xx', '5xx'];

/** All label values. Nothing a client sends becomes one. */
interface MetricLabels {
  readonly engine: string;
  readonly plans: Iterable<string>;
  readonly upstreams: Iterable<string>;
  /** How many operations of the contract have their own label value; all others are `other`. */
  readonly maxOperations: number;
}

export type Metrics = ReturnType<typeof createMetrics>;

/** Creates the metrics counted per request; all others are read at each scrape (`gauge.ts`). */
export function createMetrics({ engine, plans, upstreams, maxOperations }: MetricLabels) {
  const registry = new Registry();
  const planNames = [...plans];
  const named = new Set([UNMATCHED, MALFORMED, OPTIONS]);
  const maxNamed = named.size + maxOperations;
  const labelOf = (operation: string): string => (named.has(operation) ? operation : OTHER);
  const { requests, duration, refusals, admission, batch, upstream, errors, failures, unusable } = registerAll(
    registry,
    engine,
  );

  // One child per named operation; all others share one.
  const requestChildren = cachedByLabels((label) => ({
    duration: duration.series({ operation: label }),
    byClass: cachedByLabels((group) => requests.series({ operation: label, class: group })),
  }));
  const requestChild = cachedByLabels((operation) => {
    const child = requestChildren(labelOf(operation), '');
    // A rate can't see a series' first count, so an operation's failures start at 0 with its first use.
    for (const group of CLASSES) child.byClass(group, '');
    return child;
  });
  const refusalChild = cachedByLabels((code) => refusals.series({ code }));
  const upstreamChild = cachedByLabels((name) => upstream.series({ upstream: name }));

  // Series that are known in advance start at 0 for the same reason.
  for (const operation of [UNMATCHED, MALFORMED, OPTIONS]) requestChild(operation, '');
  for (const code of Object.keys(REFUSALS)) refusalChild(code, '');
  for (const name of upstreams) {
    upstreamChild(name, '');
    errors.inc({ upstream: name }, 0);
    for (const kind of UPSTREAM_FAILURES) failures.inc({ upstream: name, kind }, 0);
    for (const reason of Object.keys(REASONS)) unusable.inc({ upstream: name, reason }, 0);
  }

  return {
    registry,
    /** Gives operations their own label value, in this order, until the maximum is reached. A value stays. */
    nameOperations: (operations: readonly string[]): void => {
      for (const operation of operations) if (named.size < maxNamed) named.add(operation);
    },
    /** Counts an exchange that ended. Durations are in seconds. */
    exchange: (operation: string, status: number, seconds: number): void => {
      const child = requestChild(operation, '');
      child.byClass(`${Math.floor(status / 100)}xx`, '').inc();
      child.duration.observe(seconds);
    },
    verdict: countVerdicts(registry, planNames, labelOf),
    /** A hold was settled. @param units that its response cost beyond the hold; below 0, that came back */
    settled: countSettlements(registry, planNames, labelOf),
    refusal: (code: string): void => refusalChild(code, '').inc(),
    admission: (seconds: number): void => admission.observe(seconds),
    batch: (size: number): void => batch.observe(size),
    /** @param status that the client got */
    upstream: (name: string, seconds: number, status: number): void => {
      upstreamChild(name, '').observe(seconds);
      if (status >= 500) errors.inc({ upstream: name });
    },
    /** Counts a 502 sent in place of the upstream's response. */
    unusable: (name: string, reason: UpstreamReason): void => unusable.labels(name, reason).inc(),
    upstreamFailed: (name: string, kind: UpstreamFailure): void => failures.labels(name, kind).inc(),
  };
}

function registerAll(registry: Registry, engine: string) {
  const registers = [registry];
  const counter = (name: string, help: string, ...labelNames: string[]) =>
    new QuickCounter({ name, help, labelNames, registers });
  const histogram = (name: string, help: string, buckets: number[], ...labelNames: string[]) =>
    new QuickHistogram({ name, help, labelNames, buckets, registers });
  return {
    requests: counter(
      'petgate_requests_total',
      'Ended exchanges, by operation and status class.',
      'operation',
      'class',
    ),
    duration: histogram(
      'petgate_request_duration_seconds',
      'From reading a request to writing its response.',
      EXCHANGE_BUCKETS,
      'operation',
    ),
    refusals: counter('petgate_refusals_total', 'Refusals by the gateway, by code.', 'code'),
    admission: histogram(
      'petgate_admission_duration_seconds',
      'From asking the store to its verdict.',
      ADMISSION_BUCKETS,
      'engine',
    ).series({ engine }),
    batch: histogram('petgate_admission_batch_requests', 'Requests decided by one store call.', BATCH_BUCKETS).series(
      {},
    ),
    upstream: histogram(
      'petgate_upstream_duration_seconds',
      "From dispatch to the last byte of the upstream's response, or to giving up.",
      EXCHANGE_BUCKETS,
      'upstream',
    ),
    errors: counterOf(
      registry,
      'petgate_upstream_errors_total',
      'Requests sent to an upstream that ended in a 5xx, whether its own or a 502 or 504 in its place.',
      'upstream',
    ),
    unusable: counterOf(
      registry,
      'petgate_upstream_unusable_total',
      'Upstream responses that the gateway replaced with 502, by what was wrong.',
      'upstream',
      'reason',
    ),
    failures: counterOf(
      registry,
      'petgate_upstream_failures_total',
      'Attempts at an upstream that failed or could not be made, by kind, including those that were repeated ' +
        'successfully.',
      'upstream',
      'kind',
    ),
  };
}
