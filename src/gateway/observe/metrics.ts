import { Counter, Registry } from 'prom-client';
import { REFUSALS } from '../refusal.js';
import { UPSTREAM_FAILURES, type UpstreamFailure } from '../upstream/failure.js';
import { QuickCounter } from './counter.js';
import { cachedByLabels } from './cached-by-labels.js';
import { QuickHistogram } from './histogram.js';
import { countVerdicts } from './verdicts.js';

/** Seconds. Admission is a store round trip; a whole exchange includes the upstream. */
const ADMISSION_BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25];
const EXCHANGE_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];
const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const CLASSES = ['2xx', '4xx', '5xx'];

/** The label values there are. Nothing a client sends becomes one. */
interface MetricLabels {
  readonly engine: string;
  readonly plans: Iterable<string>;
  readonly operations: readonly string[];
  /** Those of them that cost a token. */
  readonly charged: readonly string[];
  /** Those that may be answered by a tunnel. */
  readonly tunnelled?: readonly string[];
  readonly upstreams: Iterable<string>;
}

export type Metrics = ReturnType<typeof createMetrics>;

/** What the gateway counts as requests pass; the rest is read at each scrape (`gauge.ts`). */
export function createMetrics({ engine, plans, operations, charged, tunnelled = [], upstreams }: MetricLabels) {
  const registry = new Registry();
  const { requests, duration, refusals, admission, batch, upstream, failures } = registerAll(registry, engine);

  const requestChild = cachedByLabels((operation, group) => requests.series({ operation, class: group }));
  const durationChild = cachedByLabels((operation) => duration.series({ operation }));
  const refusalChild = cachedByLabels((code) => refusals.series({ code }));
  const upstreamChild = cachedByLabels((name) => upstream.series({ upstream: name }));

  // A rate can't see a series' first count, so what can be known beforehand stands at 0 from the start.
  for (const operation of operations) {
    durationChild(operation, '');
    for (const group of CLASSES) requestChild(operation, group);
  }
  for (const operation of tunnelled) requestChild(operation, '1xx');
  for (const code of Object.keys(REFUSALS)) refusalChild(code, '');
  for (const name of upstreams) {
    upstreamChild(name, '');
    for (const kind of UPSTREAM_FAILURES) failures.inc({ upstream: name, kind }, 0);
  }

  return {
    registry,
    /** An exchange ended. Durations in seconds. */
    exchange: (operation: string, status: number, seconds: number): void => {
      requestChild(operation, statusClass(status)).inc();
      durationChild(operation, '').observe(seconds);
    },
    /** A verdict that took or refused a token. */
    verdict: countVerdicts(registry, plans, charged),
    refusal: (code: string): void => refusalChild(code, '').inc(),
    admission: (seconds: number): void => admission.observe(seconds),
    batch: (size: number): void => batch.observe(size),
    upstream: (name: string, seconds: number): void => upstreamChild(name, '').observe(seconds),
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
      'Exchanges ended, by operation and status class.',
      'operation',
      'class',
    ),
    duration: histogram(
      'petgate_request_duration_seconds',
      'From a request read to its answer written.',
      EXCHANGE_BUCKETS,
      'operation',
    ),
    refusals: counter('petgate_refusals_total', 'Refusals given by the gateway, by code.', 'code'),
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
      'From dispatch to the last byte of the upstream answer, or to giving up.',
      EXCHANGE_BUCKETS,
      'upstream',
    ),
    failures: new Counter({
      name: 'petgate_upstream_failures_total',
      help:
        'Attempts at an upstream that failed, or that could not be made, by kind; one that was repeated with ' +
        'success is among them.',
      labelNames: ['upstream', 'kind'],
      registers,
    }),
  };
}

function statusClass(status: number): string {
  return `${Math.floor(status / 100)}xx`;
}
