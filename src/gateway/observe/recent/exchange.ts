import type { StandingVerdict } from '../../admission/verdict.js';
import type { Exchange } from '../../exchange.js';
import type { UpstreamReason } from '../../refusals/reasons.js';

/** Windows of one exchange that are remembered: own usage may show those of every operation. */
const MAX_WINDOWS = 8;

/** What is remembered of one exchange: no more than the access log says of it, with the figures that were decided. */
export interface RecentExchange {
  readonly id: string;
  readonly traceparent: string;
  readonly method: string;
  readonly operation: string;
  readonly address: string;
  /** The key, as far as one was known. */
  readonly keyId: string | null;
  readonly verdict: StandingVerdict | null;
  readonly code: string | null;
  /** The body of the refusal, which holds its message. */
  readonly refusal: string | null;
  /** What was wrong with its upstream's response. */
  readonly reason: UpstreamReason | null;
  /** That ended it, where only this occurrence knows which. */
  readonly setting: string | null;
  readonly credential: string | null;
  readonly status: number;
  readonly bytes: number;
  readonly counted: boolean | null;
  readonly upstream: string | null;
  readonly totalMs: number;
  readonly admissionMs: number;
  readonly upstreamMs: number;
  /** This machine's clock. */
  readonly endedMs: number;
}

export function recentOf(exchange: Exchange, status: number, totalMs: number): RecentExchange {
  const { id, traceparent, method, address, client, logEntry } = exchange;
  const { operation, verdict, keyId, refusal, credential, counted, upstream, admissionMs, upstreamMs } = logEntry;
  // Makes it one text for good, which else keeps all of the field that a client may have sent.
  traceparent.charCodeAt(0);
  return {
    id,
    traceparent,
    method,
    operation,
    address,
    keyId: verdict?.keyId ?? keyId,
    verdict: verdict === null || verdict.windows.length <= MAX_WINDOWS ? verdict : shortened(verdict),
    code: refusal === null ? null : refusal.code,
    refusal: refusal === null ? null : refusal.body,
    reason: refusal?.reason ?? null,
    setting: logEntry.setting ?? refusal?.setting ?? null,
    credential,
    status,
    bytes: client.bytesOut,
    counted,
    upstream,
    totalMs,
    admissionMs,
    upstreamMs,
    endedMs: Date.now(),
  };
}

function shortened(verdict: StandingVerdict): StandingVerdict {
  return { ...verdict, windows: verdict.windows.slice(0, MAX_WINDOWS) };
}
