import type { Refusal } from '../../refusal.js';

/** How an attempt ended: responded, refused, connection broken or not available, abandoned, or an internal error. */
export type End = 'answered' | Refusal | 'lost' | 'not_sent' | 'tls' | 'withdrawn' | { readonly fault: Error };

/**
 * Why an attempt failed: no connection; no TLS, such as an untrusted certificate; broken before a response; an unusable
 * response; none in time. Or why there was no attempt: connections and queue are full; all breakers are open.
 */
export const UPSTREAM_FAILURES = ['unreachable', 'tls', 'lost', 'bad_answer', 'timeout', 'full', 'open'] as const;
export type UpstreamFailure = (typeof UPSTREAM_FAILURES)[number];

/** Called for each failed attempt, even if a second one succeeds, and for what could not be tried. */
export type OnUpstreamFailure = (upstream: string, kind: UpstreamFailure) => void;

/** The failure of an attempt; null if the upstream did not fail. */
export function failureOf(end: End): UpstreamFailure | null {
  if (end === 'answered' || end === 'withdrawn') return null;
  if (end === 'not_sent') return 'unreachable';
  if (end === 'lost' || end === 'tls') return end;
  if ('fault' in end) return null;
  if (end.code === 'upstream_timeout') return 'timeout';
  return end.code === 'upstream_failed' ? 'bad_answer' : null;
}
