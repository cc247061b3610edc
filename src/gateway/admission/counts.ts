import type { UsageCounts } from './port.js';

/** Names of the counts of usage, in the order in which they are shown. */
export const COUNTS = ['requests', 'limited', 'banned', 'failed'] as const;

/** A sum of counts while it grows. */
export type Counts = Record<(typeof COUNTS)[number], number>;

export function noCounts(): Counts {
  return { requests: 0, limited: 0, banned: 0, failed: 0 };
}

/** Field by field: it runs for millions of rows. */
export function addCounts(sum: Counts, { requests, limited, banned, failed }: UsageCounts): void {
  sum.requests += requests;
  sum.limited += limited;
  sum.banned += banned;
  sum.failed += failed;
}
