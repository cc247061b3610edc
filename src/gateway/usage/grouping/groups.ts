import { CUSTOMER_ID_LENGTH, payerOf } from '../../store/records/customer-id.js';
import {
  addCorrected,
  addCounts,
  noCorrections,
  noCounts,
  type Corrected,
  type Counts,
  type UsageCounts,
  type UsageRow,
} from '../../store/records/counts.js';
import { withoutOn, type Missing } from '../../store/finality.js';
import type { MoneyView } from './money-view.js';
import { labelsOf, type Dimension, type Label, type ReportRange } from './range.js';

/** Ledger rows of a range, as returned by `UsageStore.rows`. */
export type Ledger = AsyncIterable<readonly UsageRow[]>;

/**
 * A row of a report: dimensions, names and references (empty until looked up; undefined for other dimensions), and
 * counts. A row of a day also has whether that day is final, and the gateways whose counts may be missing.
 */
export type ReportRow = { readonly [Name in Label]?: string | undefined } & UsageCounts & {
    readonly [Name in keyof Corrected]?: number | undefined;
  } & MoneyView & {
    readonly final?: boolean | undefined;
    readonly without?: string | undefined;
  };

/** A row being summed. */
type Sum = { -readonly [Field in keyof ReportRow]: ReportRow[Field] };

export class Groups {
  readonly totals: Counts = noCounts();
  readonly corrected: Corrected = noCorrections();
  readonly #isCorrected: boolean;
  readonly #openFrom: string;
  readonly #without: readonly Missing[];
  readonly #has: { readonly [Name in Label]?: true };
  /** Dimensions that distinguish groups open at the same time. */
  readonly #names: readonly Dimension[];
  readonly #sums = new Map<string, Sum>();
  /** The key of the open groups, or the prefix of their customer's ID; initially one that no key has. */
  #open = '-';

  constructor({
    by,
    openFrom,
    without = [],
    names = true,
    corrections = false,
  }: Pick<ReportRange, 'by' | 'names' | 'openFrom' | 'without' | 'corrections'>) {
    this.#isCorrected = corrections;
    this.#openFrom = openFrom;
    this.#without = without;
    this.#has = Object.fromEntries(labelsOf({ by, names }).map((label) => [label, true]));
    this.#names = by.filter((dimension) => dimension !== 'key');
  }

  /** Yields the groups of a ledger as they are completed. */
  async *rows(ledger: Ledger): AsyncGenerator<readonly ReportRow[], void> {
    let isBegun = false;
    for await (const batch of ledger) {
      const rows = this.take(batch);
      if (rows.length > 0 || !isBegun) yield rows;
      isBegun = true;
    }
    const rest = this.flush();
    if (rest.length > 0 || !isBegun) yield rest;
  }

  /**
   * Adds a batch and returns the completed groups. The ledger arrives key by key, so with dimension `key`, a key's
   * groups are complete when the next key begins. A customer's groups are complete at the next ID prefix, because keys
   * without a customer may share it.
   */
  take(batch: readonly UsageRow[]): readonly ReportRow[] {
    const done: ReportRow[] = [];
    for (const row of batch) {
      if (this.#has.key) {
        if (row.key !== this.#open) this.#close(row.key, done);
      } else if (this.#has.customer && !row.key.startsWith(this.#open)) {
        this.#close(row.key.slice(0, CUSTOMER_ID_LENGTH), done);
      }
      const sum = this.#sumOf(row);
      addCounts(sum, row);
      addCounts(this.totals, row);
      if (row.corrected === undefined) continue;
      addCorrected(sum as Corrected, row);
      addCorrected(this.corrected, row);
    }
    return done;
  }

  /** Returns the remaining groups; with neither `key` nor `customer`, sorted by their dimensions. */
  flush(): readonly ReportRow[] {
    const sums = [...this.#sums];
    this.#sums.clear();
    if (!this.#has.key && !this.#has.customer) sums.sort(([a], [b]) => (a < b ? -1 : 1));
    return sums.map(([, sum]) => sum);
  }

  /** Moves the open groups to `done`, and sets what is open next. */
  #close(open: string, done: ReportRow[]): void {
    for (const sum of this.#sums.values()) done.push(sum);
    this.#sums.clear();
    this.#open = open;
  }

  #sumOf(row: UsageRow): Sum {
    const name = this.#nameOf(row);
    let sum = this.#sums.get(name);
    if (sum === undefined) {
      sum = this.#begin(row);
      this.#sums.set(name, sum);
    }
    return sum;
  }

  /** Does not join a single dimension: that would create garbage for millions of rows. */
  #nameOf(row: UsageRow): string {
    const [only = 'day'] = this.#names;
    if (this.#names.length === 1) return labelOf(row, only);
    let name = '';
    for (const dimension of this.#names) name += `${labelOf(row, dimension)}\n`;
    return name;
  }

  /** Sets the same fields in the same order for every row: V8 then handles rows twice as fast. */
  #begin({ plan, key, operation, day }: UsageRow): Sum {
    const has = this.#has;
    return {
      plan: has.plan ? plan : undefined,
      customer: has.customer ? payerOf(key) : undefined,
      reference: has.reference ? '' : undefined,
      customerName: has.customerName ? '' : undefined,
      key: has.key ? key : undefined,
      name: has.name ? '' : undefined,
      operation: has.operation ? operation : undefined,
      day: has.day ? day : undefined,
      requests: 0,
      units: 0,
      returned: 0,
      limited: 0,
      banned: 0,
      failed: 0,
      correctedRequests: this.#isCorrected ? 0 : undefined,
      correctedUnits: this.#isCorrected ? 0 : undefined,
      final: has.day ? day < this.#openFrom : undefined,
      without:
        has.day && this.#without.length > 0 && day < this.#openFrom
          ? withoutOn(day, this.#without) || undefined
          : undefined,
    };
  }
}

function labelOf(row: UsageRow, dimension: Dimension): string {
  return dimension === 'customer' ? payerOf(row.key) : row[dimension];
}
