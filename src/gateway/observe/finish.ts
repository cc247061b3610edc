import type { FailedRequest } from '../admission/port.js';
import type { Exchange, ExchangeLog } from '../exchange.js';
import type { Metrics } from './metrics.js';

/** Status logged for an exchange whose client left before its answer; it is never sent. */
const CLIENT_GONE = 499;
const SWITCHED = 101;

export interface AccessLog {
  /** Takes one line, its end included. */
  readonly write: (line: string) => void;
  /** Share of the exchanges below status 400 that get a line, 0 to 1; all others always do. */
  readonly sampled: number;
}

/** From here on an exchange is worth a line however few are asked for. */
const REFUSED = 400;

/**
 * Last step: records in metrics, log and ledger how an exchange ended. Runs once for each, always.
 * @param onFailed called for admitted requests that ended in a 5xx, so that billing can credit them
 */
export function createFinish(
  metrics: Metrics,
  access: AccessLog | null,
  onFailed: (failure: FailedRequest) => void,
): (exchange: Exchange, status: number) => void {
  // A line says that others are missing, so that nobody counts a sample as the whole.
  const mark = access === null || access.sampled === 1 ? '' : `,"sampled":${access.sampled}`;
  return (exchange, answered) => {
    const { logEntry, client } = exchange;
    // A refusal after the answer began could only cut it; what the client then holds is no success.
    const status = client.gone && !client.started ? CLIENT_GONE : (logEntry.refusal?.status ?? answered);
    const totalMs = performance.now() - exchange.startedMs;
    // Those of a tunnel were counted when it opened.
    if (logEntry.tunnel === null) count(metrics, logEntry, status, totalMs);
    if (logEntry.refusal !== null) metrics.refusal(logEntry.refusal.code);
    const { verdict } = logEntry;
    if (logEntry.counted && status >= 500 && verdict !== null && verdict.keyId !== null) {
      onFailed({ keyId: verdict.keyId, plan: verdict.plan, operation: logEntry.operation, admittedAtMs: verdict.atMs });
    }
    if (access !== null && (mark === '' || status >= REFUSED || Math.random() < access.sampled))
      access.write(lineOf(exchange, status, totalMs, mark));
  };
}

/** Tells metrics of a tunnel when its client is answered: they time the handshake, not what follows. */
export function createTunnelOpened(metrics: Metrics): (exchange: Exchange) => void {
  return ({ logEntry, startedMs }) => count(metrics, logEntry, SWITCHED, performance.now() - startedMs);
}

function count(metrics: Metrics, logEntry: ExchangeLog, status: number, totalMs: number): void {
  metrics.exchange(logEntry.operation, status, totalMs / 1000);
  if (logEntry.admissionMs > 0) metrics.admission(logEntry.admissionMs / 1000);
  if (logEntry.upstream !== null) metrics.upstream(logEntry.upstream, logEntry.upstreamMs / 1000);
}

// Two: a batch is admitted in one millisecond, and its exchanges end in others.
const admittedIso = isoClock();
const endedIso = isoClock();

/**
 * One line in the form of all others. Put together by hand, at a quarter of what a general writer of
 * JSON costs: every text in it comes from a closed set or has been read by a pattern that leaves
 * nothing to be escaped.
 */
function lineOf(
  { id, traceparent, version, method, address, client, logEntry }: Exchange,
  status: number,
  totalMs: number,
  mark: string,
): string {
  const { verdict } = logEntry;
  // By the store's clock: says on which UTC day the ledger counted it.
  const admittedAt = logEntry.counted && verdict !== null ? admittedIso(verdict.atMs) : null;
  return (
    `{"level":"info","time":"${endedIso(Date.now())}","program":"gateway","pid":${process.pid},"request":"${id}","trace":"${traceparent.slice(3, 35)}","span":"${traceparent.slice(36, 52)}"` +
    `,"http":${quoted(version)},"method":"${method}","operation":"${logEntry.operation}","key":${quoted(verdict?.keyId)},"plan":${quoted(verdict?.plan)},"outcome":"${verdict?.outcome ?? 'none'}"` +
    `,"code":${quoted(logEntry.refusal?.code)},"credential":${quoted(logEntry.credential)},"address":"${address}","status":${status},"bytes":${client.bytesOut}${tunnelPart(logEntry)}` +
    `,"ms":${round(totalMs)},"admissionMs":${round(logEntry.admissionMs)},"upstreamMs":${round(logEntry.upstreamMs)},"counted":${logEntry.counted},"units":${logEntry.counted ? (verdict?.cost ?? 0) : 0},"admittedAt":${quoted(admittedAt)}${mark},"msg":"exchange"}\n`
  );
}

/** Of a tunnel alone: what came from the client, and who ended it. */
function tunnelPart({ tunnel }: ExchangeLog): string {
  return tunnel === null ? '' : `,"bytesIn":${tunnel.bytesIn},"closedBy":${quoted(tunnel.closedBy)}`;
}

function quoted(text: string | null | undefined): string {
  return text === null || text === undefined ? 'null' : `"${text}"`;
}

/** Remembers the last it gave: many lines fall into one millisecond. */
function isoClock(): (atMs: number) => string {
  let lastMs = NaN;
  let last = '';
  return (atMs) => {
    if (atMs !== lastMs) {
      last = new Date(atMs).toISOString();
      lastMs = atMs;
    }
    return last;
  };
}

const THOUSANDTHS: readonly string[] = Array.from({ length: 1000 }, (_, n) => String(n).padStart(3, '0'));

/** To the microsecond, from two whole numbers: text of a fraction costs several times as much. */
function round(ms: number): string {
  const us = Math.max(0, Math.round(ms * 1000));
  const whole = Math.floor(us / 1000);
  return `${whole}.${THOUSANDTHS[us - whole * 1000]!}`;
}
