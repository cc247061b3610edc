import type { Price } from '../admission/plan.js';
import type { Missing } from '../store/finality.js';

/** What a report can be grouped by; also the names of its columns. A key without a customer counts as its own. */
export type Dimension = 'plan' | 'customer' | 'key' | 'operation' | 'day';
export const DIMENSIONS: readonly Dimension[] = ['plan', 'customer', 'key', 'operation', 'day'];

/** What stands beside a dimension; `name` is the key's where there is one. */
export type Label = Dimension | 'reference' | 'name' | 'customerName';

/** The columns that a report begins with: beside a key stands its name, beside a customer its reference and name. */
export function labelsOf({ by, names = true }: Pick<ReportRange, 'by' | 'names'>): readonly Label[] {
  const customerName: Label = by.includes('key') ? 'customerName' : 'name';
  return by.flatMap((dimension): readonly Label[] => {
    if (dimension === 'customer') return ['customer', 'reference', ...(names ? [customerName] : [])];
    return dimension === 'key' && names ? ['key', 'name'] : [dimension];
  });
}

/** More days are refused: the ledger is rarely kept so long, and each day is looked at. */
export const MAX_DAYS = 1_000;

/** What a report is about. */
export interface ReportRange {
  /** UTC days, both included: `2026-11-21`. */
  readonly from: string;
  readonly to: string;
  readonly by: readonly Dimension[];
  /** False: names are left out, and not looked up; programs have no use for them. */
  readonly names?: boolean;
  /** Of this key alone, or of all keys of this customer; ids. Left out: of everybody. */
  readonly key?: string;
  readonly customer?: string;
  /** Whether corrections are shown. */
  readonly corrections?: boolean;
  /** Of a report of amounts, which is of one month and by customer: the prices of the plans; null of one without. */
  readonly prices?: Readonly<Record<string, Price | null>>;
  /** Days before this one are final: they change no more. */
  readonly openFrom: string;
  /** Gateways that keep days open. */
  readonly waitingFor?: readonly Missing[];
  /** Gateways without whose counts days became final. */
  readonly without?: readonly Missing[];
}

/** A gateway as a report names it, times in ISO 8601; `finalAt` null once its days are final without it. */
interface MissingView {
  readonly gateway: string;
  readonly host: string;
  readonly from: string;
  readonly to: string;
  readonly lastSeen: string;
  readonly finalAt: string | null;
}

export function viewOf({ gateway, host, from, to, seenMs, finalAtMs }: Missing): MissingView {
  return {
    gateway,
    host,
    from,
    to,
    lastSeen: new Date(seenMs).toISOString(),
    finalAt: finalAtMs === null ? null : new Date(finalAtMs).toISOString(),
  };
}

/** Those without which days of this very range became final. */
export function missingIn({
  from,
  to,
  openFrom,
  without = [],
}: Pick<ReportRange, 'from' | 'to' | 'openFrom' | 'without'>): readonly Missing[] {
  return without.filter((each) => each.from <= to && each.to >= from && each.from < openFrom);
}

/** Whether the whole range is final. */
export function isFinal({ to, openFrom }: ReportRange): boolean {
  return to < openFrom;
}
