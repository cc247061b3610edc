/** What a report can be grouped by; also the names of its columns. */
export type Dimension = 'plan' | 'key' | 'operation' | 'day';
export const DIMENSIONS: readonly Dimension[] = ['plan', 'key', 'operation', 'day'];

/** More days are refused: the ledger is rarely kept so long, and each day is looked at. */
export const MOST_DAYS = 1_000;

/** What a report is about. */
export interface ReportRange {
  /** UTC days, both included: `2026-11-21`. */
  readonly from: string;
  readonly to: string;
  readonly by: readonly Dimension[];
  /** Days before this one are final: they change no more. */
  readonly openFrom: string;
}

/** Whether the whole range is final. */
export function isFinal({ to, openFrom }: ReportRange): boolean {
  return to < openFrom;
}
