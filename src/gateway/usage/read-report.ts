import type { MoneyView } from './grouping/money-view.js';
import type { ReportRow } from './grouping/groups.js';

/** A report with a limited number of rows, to show on a page. */
export interface ReadReport {
  readonly final: boolean;
  /** Gateways that days wait for, and those whose counts final days may lack. */
  readonly waitingFor: readonly { readonly gateway: string; readonly host: string; readonly from: string }[];
  readonly without: readonly { readonly gateway: string; readonly host: string; readonly from: string }[];
  readonly rows: readonly ReportRow[];
  /** Number of rows beyond `max`. */
  readonly left: number;
  readonly totals: ReportRow & { readonly amounts?: readonly MoneyView[] };
  /** By day and plan, if the report has them. */
  readonly days?: readonly ReportRow[];
}

const ROWS = '"rows":[';
const TOTALS = '],"totals":';

/** Reads the output of `reportAsJson`, one row per line. Keeps only `max` rows, because there may be millions. */
export async function readReport(pieces: AsyncIterable<string | Buffer>, max: number): Promise<ReadReport> {
  const rows: ReportRow[] = [];
  let [head, left, text] = ['', 0, ''];
  const take = (line: string): void => {
    if (line === '') return;
    if (rows.length < max) rows.push(JSON.parse(line) as ReportRow);
    else left += 1;
  };
  const decoder = new TextDecoder();
  for await (const piece of pieces) {
    text += typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true });
    const begin = head === '' ? text.indexOf(ROWS) : -1;
    if (begin !== -1) {
      head = text.slice(0, begin);
      text = text.slice(begin + ROWS.length);
    }
    const lines = text.split(',\n');
    text = lines.pop() ?? '';
    lines.forEach(take);
  }
  const end = text.lastIndexOf(TOTALS);
  take(text.slice(0, end).trim());
  const tail = JSON.parse(`{${TOTALS.slice(2)}${text.slice(end + TOTALS.length)}`) as Pick<
    ReadReport,
    'totals' | 'days'
  >;
  return { ...(JSON.parse(`${head}"rows":[]}`) as Omit<ReadReport, 'rows' | 'left' | 'totals'>), rows, left, ...tail };
}
