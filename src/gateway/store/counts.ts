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
  /** Of a row that corrects: what is to be added. Nothing was counted then, and `key` may be a customer. */
  readonly corrected?: { readonly requests: number; readonly units: number };
}

/** A row as it is stored, and as it moves from one store to another. */
export interface StoredRow extends UsageRow {
  /** It comes on top of what the archive has of the key and day; any other one is whole. */
  readonly isOnTop?: true | undefined;
}

/** Names of the counts of usage, in the order in which they are shown. */
export const COUNTS = ['requests', 'units', 'limited', 'banned', 'failed'] as const;

/** Something for each count, such as the form of its figure. */
export function forEachCount<T>(value: T): Record<(typeof COUNTS)[number], T> {
  return Object.fromEntries(COUNTS.map((name) => [name, value])) as Record<(typeof COUNTS)[number], T>;
}

/** Names of what is added to counts by hand, as reports show it beside them. */
export const CORRECTED = ['correctedRequests', 'correctedUnits'] as const;

/** A sum of corrections while it grows. */
export type Corrected = Record<(typeof CORRECTED)[number], number>;

export function noCorrections(): Corrected {
  return { correctedRequests: 0, correctedUnits: 0 };
}

export function addCorrected(sum: Corrected, { corrected }: Pick<UsageRow, 'corrected'>): void {
  if (corrected === undefined) return;
  sum.correctedRequests += corrected.requests;
  sum.correctedUnits += corrected.units;
}

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
