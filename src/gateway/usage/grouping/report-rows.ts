import type { Corrected, UsageCounts } from '../../store/records/counts.js';
import type { ReportRow } from './groups.js';
import type { MoneyView } from './money-view.js';

/** A report as rows, before names are looked up. */
export interface Report {
  /** Rows as completed. The first batch, even if empty, comes once the store responds, so that a head can be sent. */
  readonly rows: AsyncIterable<readonly ReportRow[]>;
  /** Complete once all rows are read. */
  readonly end: () => ReportEnd;
}

export interface ReportEnd {
  /** With amounts, includes the known sums by currency. */
  readonly totals: UsageCounts & Partial<Corrected> & MoneyView & { readonly amounts?: readonly MoneyView[] };
  /** By day and plan, if asked for. */
  readonly days?: readonly ReportRow[];
}

/** Yields a line of JSON for each batch, then one for the end. */
export async function* rowsText(report: Report): AsyncGenerator<string, void> {
  for await (const rows of report.rows) yield `${JSON.stringify(rows)}\n`;
  yield `${JSON.stringify(report.end())}\n`;
}

/** Reads what `rowsText` wrote. */
export function reportIn(pieces: AsyncIterable<string | Buffer>): Report {
  let end: ReportEnd | undefined;
  const read = async function* (): AsyncGenerator<readonly ReportRow[], void> {
    const decoder = new TextDecoder();
    let text = '';
    for await (const piece of pieces) {
      const lines = (text + (typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true }))).split('\n');
      text = lines.pop()!;
      for (const line of lines) {
        const part = JSON.parse(line) as readonly ReportRow[] | ReportEnd;
        if ('totals' in part) end = part;
        else yield part;
      }
    }
    if (end === undefined) throw new Error('the report is incomplete');
  };
  return { rows: read(), end: () => end! };
}
