import type { UsageCounts, UsageRow } from '../admission/port.js';

export type Dimension = 'plan' | 'key' | 'operation' | 'day';
export const DIMENSIONS: readonly Dimension[] = ['plan', 'key', 'operation', 'day'];

export interface ReportRange {
  /** UTC days, both included: `2026-11-21`. */
  readonly from: string;
  readonly to: string;
  readonly by: readonly Dimension[];
  /** Days before this one change no more. */
  readonly openFrom: string;
}

/** One row of the report: the dimensions it is grouped by, the counts, and with `day` whether that day is final. */
export type ReportRow = Readonly<Partial<Record<Dimension, string>>> & UsageCounts & { readonly final?: boolean };

interface Counts {
  requests: number;
  limited: number;
  banned: number;
  failed: number;
}

/** Sums in each of which the rows of one group gather. */
export class Groups {
  readonly totals: Counts = { requests: 0, limited: 0, banned: 0, failed: 0 };
  readonly #range: ReportRange;
  readonly #sums = new Map<string, { readonly first: UsageRow; readonly counts: Counts }>();
  #key = '';

  constructor(range: ReportRange) {
    this.#range = range;
  }

  /**
   * Takes in one batch and gives the groups that are complete: the ledger comes key by key, so with
   * `key` among the dimensions a key's groups are done when the next key begins, and memory stays small.
   */
  take(batch: readonly UsageRow[]): readonly ReportRow[] {
    const done: ReportRow[] = [];
    for (const row of batch) {
      if (row.key !== this.#key && this.#range.by.includes('key')) done.push(...this.flush());
      this.#key = row.key;
      const name = this.#range.by.map((dimension) => row[dimension]).join('\n');
      const sum = this.#sums.get(name) ?? { first: row, counts: { requests: 0, limited: 0, banned: 0, failed: 0 } };
      this.#sums.set(name, sum);
      add(sum.counts, row);
      add(this.totals, row);
    }
    return done;
  }

  /** The groups not given yet. */
  flush(): readonly ReportRow[] {
    const { by, openFrom } = this.#range;
    const rows = [...this.#sums.values()].map(({ first, counts }) => ({
      ...Object.fromEntries(by.map((dimension) => [dimension, first[dimension]])),
      ...counts,
      ...(by.includes('day') ? { final: first.day < openFrom } : {}),
    }));
    this.#sums.clear();
    return rows;
  }
}

/** The report as JSON text, piece by piece: `{from, to, by, final, rows, totals}`. */
export async function* reportAsJson(range: ReportRange, ledger: AsyncIterable<readonly UsageRow[]>): AsyncGenerator<string, void> {
  const { from, to, by, openFrom } = range;
  const head = JSON.stringify({ from, to, by, final: to < openFrom }).slice(0, -1);
  const groups = new Groups(range);
  let before = `${head},"rows":[`;
  for await (const rows of groupsOf(groups, ledger)) {
    yield before + rows.map((row) => JSON.stringify(row)).join(',');
    before = ',';
  }
  // With no row at all the head is still to be sent.
  yield `${before === ',' ? '' : before}],"totals":${JSON.stringify(groups.totals)}}\n`;
}

/** The report as CSV (RFC 4180), one header line, no totals. */
export async function* reportAsCsv(range: ReportRange, ledger: AsyncIterable<readonly UsageRow[]>): AsyncGenerator<string, void> {
  const columns = [...range.by, 'requests', 'limited', 'banned', 'failed', ...(range.by.includes('day') ? ['final'] : [])];
  let head = `${columns.join(',')}\r\n`;
  for await (const rows of groupsOf(new Groups(range), ledger)) {
    yield head + rows.map((row) => csvLine(columns, row)).join('');
    head = '';
  }
  if (head !== '') yield head;
}

async function* groupsOf(groups: Groups, ledger: AsyncIterable<readonly UsageRow[]>): AsyncGenerator<readonly ReportRow[], void> {
  for await (const batch of ledger) {
    const rows = groups.take(batch);
    if (rows.length > 0) yield rows;
  }
  const rest = groups.flush();
  if (rest.length > 0) yield rest;
}

function csvLine(columns: readonly string[], row: ReportRow): string {
  const fields = new Map(Object.entries(row));
  return `${columns.map((column) => csvField(String(fields.get(column)))).join(',')}\r\n`;
}

function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function add(counts: Counts, row: UsageCounts): void {
  counts.requests += row.requests;
  counts.limited += row.limited;
  counts.banned += row.banned;
  counts.failed += row.failed;
}
