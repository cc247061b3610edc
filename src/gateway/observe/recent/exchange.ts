import type { StandingVerdict } from '../../admission/verdict.js';
import type { Exchange, ExchangeLog } from '../../exchange.js';
import type { UpstreamReason } from '../../refusals/reasons.js';

/** Windows kept per exchange: a request for a key's own usage may have those of every operation. */
const MAX_WINDOWS = 8;

/** A remembered exchange. Like the access log, it contains no path, query or secret. */
export interface RecentExchange
  extends
    Pick<Exchange, 'id' | 'traceparent' | 'method' | 'address'>,
    Readonly<
      Pick<ExchangeLog, 'operation' | 'verdict' | 'credential' | 'counted' | 'upstream' | 'admissionMs' | 'upstreamMs'>
    > {
  /** Null if no key was known. */
  readonly keyId: string | null;
  readonly code: string | null;
  /** The body of the refusal: JSON with its message. */
  readonly refusal: string | null;
  /** What was wrong with the upstream's response. */
  readonly reason: UpstreamReason | null;
  /** The setting behind this outcome, if the catalogue names none or another one for `code`. */
  readonly setting: string | null;
  readonly status: number;
  readonly bytes: number;
  readonly totalMs: number;
  /** This machine's clock. */
  readonly endedMs: number;
}

export function recentOf(exchange: Exchange, status: number, totalMs: number): RecentExchange {
  const { id, traceparent, method, address, client, logEntry } = exchange;
  const { operation, verdict, keyId, refusal, credential, counted, upstream, admissionMs, upstreamMs } = logEntry;
  // Flattens the string, which otherwise keeps the client's whole header field in memory.
  traceparent.charCodeAt(0);
  return {
    ...{ id, traceparent, method, operation, address, credential, status, counted, upstream },
    ...{ totalMs, admissionMs, upstreamMs },
    keyId: verdict?.keyId ?? keyId,
    verdict: verdict === null || verdict.windows.length <= MAX_WINDOWS ? verdict : shortened(verdict),
    code: refusal === null ? null : refusal.code,
    refusal: refusal === null ? null : refusal.body,
    reason: refusal?.reason ?? null,
    setting: logEntry.setting ?? refusal?.setting ?? null,
    bytes: client.bytesOut,
    endedMs: Date.now(),
  };
}

function shortened(verdict: StandingVerdict): StandingVerdict {
  return { ...verdict, windows: verdict.windows.slice(0, MAX_WINDOWS) };
}
