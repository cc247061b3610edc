import type { UsageCounts, UsageRow } from '../admission/port.js';
import type { Dimension, ReportRange } from './range.js';

/** One row of a report: the dimensions it is grouped by, the counts, and with `day` whether that day is final. */
export type ReportRow = Readonly<Partial<Record<Dimension, string>>> & UsageCounts & { readonly final?: boolean };

export interface Counts {
  requests: number;
  limited: number;
  banned: number;
  failed: number;
}

export function noCounts(): Counts {
  return { requests: 0, limited: 0, banned: 0, failed: 0 };
}

/** Sums in each of which the ledger's rows of one group gather. */
export class Groups {
  readonly totals: Counts = noCounts();
  readonly #range: Pick<ReportRange, 'by' | 'openFrom'>;
  readonly #byKey: boolean;
  readonly #sums = new Map<string, { readonly first: UsageRow; readonly counts: Counts }>();
  #key = '';

  constructor(range: Pick<ReportRange, 'by' | 'openFrom'>) {
    this.#range = range;
    this.#byKey = range.by.includes('key');
  }

  /**
   * Takes in one batch and gives the groups that are complete: the ledger comes key by key, so with
   * `key` among the dimensions a key's groups are done when the next key begins, and memory stays small.
   */
  take(batch: readonly UsageRow[]): readonly ReportRow[] {
    const done: ReportRow[] = [];
    for (const row of batch) {
      if (this.#byKey && row.key !== this.#key) {
        if (this.#sums.size > 0) done.push(...this.flush());
        this.#key = row.key;
      }
      const sum = this.#sumOf(row);
      add(sum, row);
      add(this.totals, row);
    }
    return done;
  }

  /** The groups not given yet; without `key` in the order of their dimensions. */
  flush(): readonly ReportRow[] {
    const { by, openFrom } = this.#range;
    const sums = [...this.#sums];
    this.#sums.clear();
    if (!this.#byKey) sums.sort(([a], [b]) => (a < b ? -1 : 1));
    return sums.map(([, { first, counts }]) => ({
      ...Object.fromEntries(by.map((dimension) => [dimension, first[dimension]])),
      ...counts,
      ...(by.includes('day') ? { final: first.day < openFrom } : {}),
    }));
  }

  #sumOf(row: UsageRow): Counts {
    let name = '';
    for (const dimension of this.#range.by) name += `${row[dimension]}\n`;
    const known = this.#sums.get(name);
    if (known !== undefined) return known.counts;
    const counts = noCounts();
    this.#sums.set(name, { first: row, counts });
    return counts;
  }
}

function add(counts: Counts, row: UsageCounts): void {
  counts.requests += row.requests;
  counts.limited += row.limited;
  counts.banned += row.banned;
  counts.failed += row.failed;
}
