/**
 * A request in flight of a plan with `concurrency` has a lease, which ends with it, or by itself: so a dead process's
 * share ends this long after its last renewal.
 */
export const LEASE_MS = 60_000;
/** How often a process renews the leases of its requests. */
export const RENEWED_MS = 20_000;
/** When a retry may find that a request has ended. */
export const CROWDED_RETRY_MS = 1_000;
/** The highest `concurrency`: each admission on such a plan reads the leases of its subject. */
export const MAX_CONCURRENCY = 1_000;
/** Names the limit in a verdict, next to the names of windows. */
export const CONCURRENCY = 'concurrency';

export interface Lease {
  /** The key whose request has it. */
  readonly keyId: string;
  readonly id: number;
  /** Whether this gateway gave it in outage mode. */
  readonly isLocal: boolean;
}
