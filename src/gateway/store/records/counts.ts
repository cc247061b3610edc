/** Cumulative counts of one key, plan, operation and UTC day. */
export interface UsageCounts {
  readonly requests: number;
  /** Units charged: the cost of each request, or its hold and what its response cost beyond that. */
  readonly units: number;
  /** Units of these that came back, because a response cost less than its hold. */
  readonly returned: number;
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
  /** For a correction: what it adds. The row has no counts, and `key` may be a customer. */
  readonly corrected?: { readonly requests: number; readonly units: number };
}

/** A row as stored, and as moved from one store to another. */
export interface StoredRow extends UsageRow {
  /** On top of what the archive has of the key and day; otherwise the row is whole. */
  readonly isOnTop?: true | undefined;
}

/** Names of the usage counters, in display order. */
export const COUNTS = ['requests', 'units', 'returned', 'limited', 'banned', 'failed'] as const;

/** Returns `value` for each counter. */
export function forEachCount<T>(value: T): Record<(typeof COUNTS)[number], T> {
  return Object.fromEntries(COUNTS.map((name) => [name, value])) as Record<(typeof COUNTS)[number], T>;
}

/** Names of the corrections, as reports show them next to the counters. */
export const CORRECTED = ['correctedRequests', 'correctedUnits'] as const;

/** A running sum of corrections. */
export type Corrected = Record<(typeof CORRECTED)[number], number>;

export function noCorrections(): Corrected {
  return { correctedRequests: 0, correctedUnits: 0 };
}

export function addCorrected(sum: Corrected, { corrected }: Pick<UsageRow, 'corrected'>): void {
  if (corrected === undefined) return;
  sum.correctedRequests += corrected.requests;
  sum.correctedUnits += corrected.units;
}

/** A running sum of counters. */
export type Counts = Record<(typeof COUNTS)[number], number>;

export function noCounts(): Counts {
  return { requests: 0, units: 0, returned: 0, limited: 0, banned: 0, failed: 0 };
}

/** Field by field: it runs for millions of rows. */
export function addCounts(sum: Counts, { requests, units, returned, limited, banned, failed }: UsageCounts): void {
  sum.requests += requests;
  sum.units += units;
  sum.returned += returned;
  sum.limited += limited;
  sum.banned += banned;
  sum.failed += failed;
}

/** Returns the units to pay for. */
export function netUnits({ units, returned }: Pick<UsageCounts, 'units' | 'returned'>): number {
  return units - returned;
}
