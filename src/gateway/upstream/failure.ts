import type { End } from './attempt.js';

/**
 * Why an attempt failed: no connection; no TLS, such as for a certificate that is not trusted; it broke before an
 * answer; an answer that is none for a client; none in time. Or why none was made: connections and queue are full;
 * every breaker is open.
 */
export const UPSTREAM_FAILURES = ['unreachable', 'tls', 'lost', 'bad_answer', 'timeout', 'full', 'open'] as const;
export type UpstreamFailure = (typeof UPSTREAM_FAILURES)[number];

/** Called for each attempt that failed, also when a second one then succeeded, and for what could not be tried. */
export type OnUpstreamFailure = (upstream: string, kind: UpstreamFailure) => void;

/** The failure that an attempt ended in; null where the upstream did not fail. */
export function failureOf(end: End): UpstreamFailure | null {
  if (end === 'answered' || end === 'withdrawn') return null;
  if (end === 'not_sent') return 'unreachable';
  if (end === 'lost' || end === 'tls') return end;
  if ('fault' in end) return null;
  if (end.code === 'upstream_timeout') return 'timeout';
  return end.code === 'upstream_failed' ? 'bad_answer' : null;
}
