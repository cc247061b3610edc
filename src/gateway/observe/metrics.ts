import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { StandingVerdict } from '../admission/verdict.js';

/** Seconds. Admission is a store round trip; a whole exchange includes the service behind. */
const ADMISSION_BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25];
const EXCHANGE_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

/** What the gateway counts. Label values come from contract, plans and catalogue only: the sets are closed. */
export interface Metrics {
  readonly registry: Registry;
  /** An exchange ended. Durations in seconds. */
  exchange(operation: string, status: number, seconds: number): void;
  /** A verdict that took or refused a token. */
  verdict(verdict: StandingVerdict, operation: string): void;
  refusal(code: string): void;
  admission(seconds: number): void;
  batch(size: number): void;
  upstream(name: string, seconds: number): void;
  inFlight(change: 1 | -1): void;
}

export function createMetrics(engine: string): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({ name: 'petgate_requests_total', help: 'Exchanges ended, by operation and status class.', labelNames: ['operation', 'class'], registers });
  const duration = new Histogram({ name: 'petgate_request_duration_seconds', help: 'From a request read to its answer written.', labelNames: ['operation'], buckets: EXCHANGE_BUCKETS, registers });
  const admitted = new Counter({ name: 'petgate_admitted_total', help: 'Requests of good keys that took a token; equals the ledger.', labelNames: ['plan', 'operation'], registers });
  const limited = new Counter({ name: 'petgate_limited_total', help: 'Requests refused by an empty bucket, by the window that fills last.', labelNames: ['plan', 'window'], registers });
  const banned = new Counter({ name: 'petgate_banned_total', help: 'Requests refused by a ban.', labelNames: ['plan'], registers });
  const bans = new Counter({ name: 'petgate_bans_started_total', help: 'Bans started by refusals.', labelNames: ['plan'], registers });
  const refusals = new Counter({ name: 'petgate_refusals_total', help: 'Refusals given by the gateway, by code.', labelNames: ['code'], registers });
  const admission = new Histogram({ name: 'petgate_admission_duration_seconds', help: 'From asking the store to its verdict.', labelNames: ['engine'], buckets: ADMISSION_BUCKETS, registers }).labels(engine);
  const batch = new Histogram({ name: 'petgate_admission_batch_requests', help: 'Requests decided by one store call.', buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256], registers });
  const upstream = new Histogram({ name: 'petgate_upstream_duration_seconds', help: 'From dispatch to the last byte of the upstream answer.', labelNames: ['upstream'], buckets: EXCHANGE_BUCKETS, registers });
  new Gauge({ name: 'petgate_start_time_seconds', help: 'Unix time since which these figures count.', registers, aggregator: 'min' }).set(Math.round(performance.timeOrigin) / 1000);
  const inFlight = new Gauge({ name: 'petgate_exchanges_in_flight', help: 'Exchanges begun and not ended.', registers });

  const requestChild = held((operation: string, group: string) => requests.labels(operation, group));
  const durationChild = held((operation: string) => duration.labels(operation));
  const admittedChild = held((plan: string, operation: string) => admitted.labels(plan, operation));
  const upstreamChild = held((name: string) => upstream.labels(name));
  return {
    registry,
    exchange: (operation, status, seconds) => {
      requestChild(operation, statusClass(status)).inc();
      durationChild(operation, '').observe(seconds);
    },
    verdict: (verdict, operation) => {
      if (verdict.outcome === 'limited') limited.labels(verdict.plan, verdict.violated).inc();
      else if (verdict.outcome === 'admitted' && verdict.keyId !== null) admittedChild(verdict.plan, operation).inc();
      else if (verdict.outcome === 'banned') {
        banned.labels(verdict.plan).inc();
        if (verdict.started) bans.labels(verdict.plan).inc();
      }
    },
    refusal: (code) => refusals.labels(code).inc(),
    admission: (seconds) => admission.observe(seconds),
    batch: (size) => batch.observe(size),
    upstream: (name, seconds) => upstreamChild(name, '').observe(seconds),
    inFlight: (change) => inFlight.inc(change),
  };
}

const CLASSES = ['0xx', '1xx', '2xx', '3xx', '4xx', '5xx'] as const;

function statusClass(status: number): string {
  return CLASSES[Math.floor(status / 100)] ?? '0xx';
}

/** Keeps each labelled child once made: finding it by labels costs more than counting. */
function held<Child>(make: (first: string, second: string) => Child): (first: string, second: string) => Child {
  const children = new Map<string, Map<string, Child>>();
  return (first, second) => {
    let row = children.get(first);
    if (row === undefined) children.set(first, (row = new Map<string, Child>()));
    let child = row.get(second);
    if (child === undefined) row.set(second, (child = make(first, second)));
    return child;
  };
}
