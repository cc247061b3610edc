import { COUNTS } from '../store/counts.js';
import type { UsageRow } from '../store/port.js';
import { Groups } from './groups.js';
import type { ReportRow } from './groups.js';
import { isFinal, labelsOf, missingIn, viewOf } from './range.js';
import type { ReportRange } from './range.js';
import type { References } from './references.js';

/** The ledger's rows of a range, as `UsageStore.rows` gives them. */
export type Ledger = AsyncIterable<readonly UsageRow[]>;

/** First cell of the CSV's last line. */
const TOTAL = 'total';

/** The report as JSON text, piece by piece: `{from, to, by, final, waitingFor, without, rows, totals}`. */
export async function* reportAsJson(
  range: ReportRange,
  ledger: Ledger,
  references?: References,
): AsyncGenerator<string, void> {
  const { from, to, by } = range;
  const groups = new Groups(range);
  let text = `${JSON.stringify({ from, to, by, final: isFinal(range), waitingFor: (range.waitingFor ?? []).map(viewOf), without: missingIn(range).map(viewOf) }).slice(0, -1)},"rows":[`;
  let separator = '';
  for await (const rows of piecesOf(groups, ledger, references)) {
    for (const row of rows) {
      text += separator + JSON.stringify(row);
      separator = ',\n';
    }
    yield text;
    text = '';
  }
  yield `],"totals":${JSON.stringify(groups.totals)}}\n`;
}

/**
 * The report as CSV (RFC 4180): a header line, the rows, and a line of totals whose first cell is
 * `total`. The totals come last, so that a file without them was cut short.
 */
export async function* reportAsCsv(
  range: ReportRange,
  ledger: Ledger,
  references?: References,
): AsyncGenerator<string, void> {
  const hasDay = range.by.includes('day');
  const labels = labelsOf(range.by);
  const columns = [...labels, ...COUNTS, ...(hasDay ? ['final' as const, 'without' as const] : [])];
  const groups = new Groups(range);
  let head = `${columns.join(',')}\r\n`;
  for await (const rows of piecesOf(groups, ledger, references)) {
    yield head + rows.map((row) => csvLine(columns, row)).join('');
    head = '';
  }
  const total = Object.fromEntries(labels.map((label, place) => [label, place === 0 ? TOTAL : '']));
  yield head +
    csvLine(columns, {
      ...total,
      ...groups.totals,
      ...(hasDay
        ? {
            final: isFinal(range),
            without: missingIn(range)
              .map(({ gateway }) => gateway)
              .join(' '),
          }
        : {}),
    });
}

/** Groups as they are done; before them an empty piece as soon as the store has answered, so that a head can go out. */
async function* piecesOf(
  groups: Groups,
  ledger: Ledger,
  references?: References,
): AsyncGenerator<readonly ReportRow[], void> {
  const told = (rows: readonly ReportRow[]): Promise<readonly ReportRow[]> | readonly ReportRow[] =>
    references === undefined ? rows : references.added(rows);
  let answered = false;
  for await (const batch of ledger) {
    const rows = groups.take(batch);
    if (rows.length > 0 || !answered) yield await told(rows);
    answered = true;
  }
  const rest = groups.flush();
  if (rest.length > 0 || !answered) yield await told(rest);
}

function csvLine(columns: readonly (keyof ReportRow)[], row: ReportRow): string {
  let line = '';
  for (const column of columns) {
    const value = row[column];
    line += `${line === '' ? '' : ','}${typeof value === 'string' ? csvField(value) : (value ?? '')}`;
  }
  return `${line}\r\n`;
}

/** A spreadsheet runs what begins like a formula; an apostrophe before it makes it text. */
export function csvField(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
