import type { Price } from '../../admission/plan.js';
import type { Missing } from '../../store/finality.js';

/** A dimension of a report, and the name of its column. A key without a customer counts as its own customer. */
export type Dimension = 'plan' | 'customer' | 'key' | 'operation' | 'day';
export const DIMENSIONS: readonly Dimension[] = ['plan', 'customer', 'key', 'operation', 'day'];

/** A dimension, or a column next to one. `name` is the key's with dimension `key`, otherwise the customer's. */
export type Label = Dimension | 'reference' | 'name' | 'customerName';

/** Returns the first columns of a report: a key is followed by its name, a customer by reference and name. */
export function labelsOf({ by, names = true }: Pick<ReportRange, 'by' | 'names'>): readonly Label[] {
  const customerName: Label = by.includes('key') ? 'customerName' : 'name';
  return by.flatMap((dimension): readonly Label[] => {
    if (dimension === 'customer') return ['customer', 'reference', ...(names ? [customerName] : [])];
    return dimension === 'key' && names ? ['key', 'name'] : [dimension];
  });
}

/** Maximum number of days in a range: each is looked up, and ledgers are rarely kept longer. */
export const MAX_DAYS = 1_000;

export interface ReportRange {
  /** UTC days, inclusive: `2026-11-21`. */
  readonly from: string;
  readonly to: string;
  readonly by: readonly Dimension[];
  /** False to omit names, which saves looking them up. Default: true. */
  readonly names?: boolean;
  /** Only the key, or the keys of the customer, with this ID. */
  readonly key?: string;
  readonly customer?: string;
  /** Whether corrections are shown. */
  readonly corrections?: boolean;
  /** Whether the end of the report has `days`: the counts by day and plan. */
  readonly days?: boolean;
  /** For a report with amounts (one month, by customer): prices by plan; null for a plan without one. */
  readonly prices?: Readonly<Record<string, Price | null>>;
  /** Days before this one are final: they no longer change. */
  readonly openFrom: string;
  /** Gateways that keep days from being final. */
  readonly waitingFor?: readonly Missing[];
  /** Gateways whose counts may be missing in final days. */
  readonly without?: readonly Missing[];
}

/** A gateway in a report, times in ISO 8601; `finalAt` is null once its days are final without it. */
interface MissingView extends Omit<Missing, 'seenMs' | 'finalAtMs'> {
  readonly lastSeen: string;
  readonly finalAt: string | null;
}

export function viewOf({ seenMs, finalAtMs, ...missing }: Missing): MissingView {
  const finalAt = finalAtMs === null ? null : new Date(finalAtMs).toISOString();
  return { ...missing, lastSeen: new Date(seenMs).toISOString(), finalAt };
}

/** Returns the gateways whose counts may be missing in final days of this range. */
export function missingIn({ from, to, openFrom, without = [] }: Omit<ReportRange, 'by'>): readonly Missing[] {
  return without.filter((each) => each.from <= to && each.to >= from && each.from < openFrom);
}

/** Whether the whole range is final. */
export function isFinal({ to, openFrom }: Pick<ReportRange, 'to' | 'openFrom'>): boolean {
  return to < openFrom;
}
