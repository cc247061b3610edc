/** Cumulative counts of one key, plan, operation and UTC day. */
export interface UsageCounts {
  readonly requests: number;
  /** What the requests cost. */
  readonly units: number;
  readonly limited: number;
  readonly banned: number;
  readonly failed: number;
}
export interface UsageRow extends UsageCounts {
  readonly key: string;
  readonly plan: string;
  readonly operation: string;
  /** `2026-11-21` */
  readonly day: string;
}

/** Names of the counts of usage, in the order in which they are shown. */
export const COUNTS = ['requests', 'units', 'limited', 'banned', 'failed'] as const;

/** A sum of counts while it grows. */
export type Counts = Record<(typeof COUNTS)[number], number>;

export function noCounts(): Counts {
  return { requests: 0, units: 0, limited: 0, banned: 0, failed: 0 };
}

/** Field by field: it runs for millions of rows. */
export function addCounts(sum: Counts, { requests, units, limited, banned, failed }: UsageCounts): void {
  sum.requests += requests;
  sum.units += units;
  sum.limited += limited;
  sum.banned += banned;
  sum.failed += failed;
}
