import type { Failure } from '../admission/port.js';
import type { Exchange } from '../exchange.js';
import type { Log } from '../../shared/log.js';
import type { Metrics } from './metrics.js';

/** Status of an exchange whose client left before its answer; nobody was told it. */
const CLIENT_GONE = 499;

/**
 * Last step: tells metrics, log and ledger how an exchange ended. Runs once for each, always.
 * @param onFailed told of admitted requests that ended in a 5xx, so that billing can credit them
 */
export function createFinish(metrics: Metrics, access: Log | null, onFailed: (failure: Failure) => void): (exchange: Exchange, status: number) => void {
  return (exchange, answered) => {
    const { story, client } = exchange;
    // A refusal after the answer began could only cut it; what the client then holds is no success.
    const status = client.gone && !client.started ? CLIENT_GONE : (story.refusal?.status ?? answered);
    const totalMs = performance.now() - exchange.startedMs;
    metrics.exchange(story.operation, status, totalMs / 1000);
    if (story.admissionMs > 0) metrics.admission(story.admissionMs / 1000);
    if (story.upstream !== null) metrics.upstream(story.upstream, story.upstreamMs / 1000);
    if (story.refusal !== null) metrics.refusal(story.refusal.code);
    const { standing } = story;
    if (story.counted && status >= 500 && standing !== null && standing.keyId !== null) {
      onFailed({ keyId: standing.keyId, plan: standing.plan, operation: story.operation, admittedAtMs: standing.atMs });
    }
    access?.info(lineOf(exchange, status, totalMs), 'exchange');
  };
}

function lineOf(exchange: Exchange, status: number, totalMs: number): object {
  const { story } = exchange;
  return {
    request: exchange.id,
    trace: exchange.traceparent.slice(3, 35),
    method: exchange.method,
    operation: story.operation,
    key: story.standing?.keyId ?? null,
    plan: story.standing?.plan ?? null,
    outcome: story.standing?.outcome ?? 'none',
    code: story.refusal?.code ?? null,
    credential: story.credential,
    address: exchange.address,
    status,
    bytes: exchange.client.bytesOut,
    ms: round(totalMs),
    admissionMs: round(story.admissionMs),
    upstreamMs: round(story.upstreamMs),
    counted: story.counted,
    // By the store's clock: says on which UTC day the ledger counted it.
    admittedAt: story.counted && story.standing !== null ? new Date(story.standing.atMs).toISOString() : null,
  };
}

function round(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
