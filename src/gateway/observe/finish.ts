import type { Plans } from '../admission/plan.js';
import type { EndedRequest } from '../store/port.js';
import type { Exchange, ExchangeLog } from '../exchange.js';
import type { AccessLine } from './log/access-line.js';
import { endedRequest } from './ended.js';
import type { Metrics } from './metrics/metrics.js';
import type { RecentExchanges } from './recent/memory.js';
import type { TextLine } from './log/text-line.js';

/** Status logged for an exchange whose client left before its response; never sent. */
const CLIENT_GONE = 499;
const SWITCHED = 101;

/** JSON for programs, or text for people. */
type Line = AccessLine | TextLine;

export interface AccessLog {
  readonly Line: typeof AccessLine | typeof TextLine;
  readonly write: (line: Line) => void;
  /** Share of the exchanges below status 400 that get a line, 0 to 1; all others always do. */
  readonly sampled: number;
}

/** From this status on, an exchange is always logged, and remembered as refused or failed. */
const REFUSED = 400;

/**
 * Last step: records in metrics, log and ledger how an exchange ended, and remembers it. Runs once for each, always.
 * @param onEnded called for admitted requests whose end changes the ledger: a hold to settle, or a 5xx to credit
 */
export function createFinish(
  metrics: Metrics,
  access: AccessLog | null,
  onEnded: (request: EndedRequest) => void,
  recent: RecentExchanges,
  plans: Plans,
): (exchange: Exchange, status: number) => void {
  // Each line says that others are missing, so that nobody takes a sample for the whole.
  const mark = access === null || access.sampled === 1 ? '' : `,"sampled":${access.sampled}`;
  const end = (exchange: Exchange, status: number, totalMs: number, line: Line | null): void => {
    const ended = endedRequest(exchange.logEntry, status, plans);
    if (ended !== null) onEnded(ended);
    if (ended?.settlement !== undefined) metrics.settled(ended.plan, ended.operation, ended.settlement.units);
    const { refusal } = exchange.logEntry;
    if (line !== null) access?.write(line);
    recent.note(exchange, status, totalMs, refusal !== null || status >= REFUSED);
  };
  return (exchange, sentStatus) => {
    const { logEntry, client } = exchange;
    // A refusal after the response began could only cut it short: the client did not get a success.
    const status = client.gone && !client.started ? CLIENT_GONE : (logEntry.refusal?.status ?? sentStatus);
    const totalMs = performance.now() - exchange.startedMs;
    // A tunnel was counted when it opened.
    if (logEntry.tunnel === null) count(metrics, logEntry, status, totalMs);
    const { refusal, upstream } = logEntry;
    if (refusal !== null) metrics.refusal(refusal.code);
    if (refusal?.reason !== undefined && upstream !== null) metrics.unusable(upstream, refusal.reason);
    const isLogged = access !== null && (mark === '' || status >= REFUSED || Math.random() < access.sampled);
    const line = isLogged ? new access.Line(exchange, status, totalMs, mark) : null;
    // Until `late` resolves, it is unknown whether the ledger counted the request.
    if (logEntry.late === null) end(exchange, status, totalMs, line);
    else void logEntry.late.then(() => end(exchange, status, totalMs, line));
  };
}

/** Creates the step that counts a tunnel when it opens: metrics time the handshake, not what follows. */
export function createTunnelOpened(metrics: Metrics): (exchange: Exchange) => void {
  return ({ logEntry, startedMs }) => count(metrics, logEntry, SWITCHED, performance.now() - startedMs);
}

function count(metrics: Metrics, logEntry: ExchangeLog, status: number, totalMs: number): void {
  metrics.exchange(logEntry.operation, status, totalMs / 1000);
  if (logEntry.admissionMs > 0) metrics.admission(logEntry.admissionMs / 1000);
  if (logEntry.upstream !== null) metrics.upstream(logEntry.upstream, logEntry.upstreamMs / 1000, status);
}
