import { CORRECTED, COUNTS } from '../store/records/counts.js';
import type { Accounts } from '../store/ledger.js';
import type { UsageStore } from '../store/port.js';
import type { ReportRow } from './grouping/groups.js';
import { MONEY } from './grouping/money-view.js';
import { isFinal, labelsOf, missingIn, viewOf, type ReportRange } from './grouping/range.js';
import { rowsText, type Report } from './grouping/report-rows.js';
import { namedRows } from './names.js';
import { ledgerOf, reportOn } from './report.js';

/** `rows` is for `reportIn`, in another process. */
export type Format = 'json' | 'csv' | 'rows';

/** Minimum size of a piece after the first. */
const PIECE_CHARACTERS = 65_536;

/** First cell of the last CSV line. */
const TOTAL = 'total';

/** Yields the text of a report in pieces. @param accounts for names, references, corrections and amounts */
export async function* writeReport(
  format: Format,
  asked: ReportRange,
  usage: UsageStore,
  accounts?: Accounts,
): AsyncGenerator<string, void> {
  const { range, report } = await reportOn(asked, ledgerOf(asked, usage), accounts);
  const rows = format === 'rows' ? report.rows : namedRows(range, report.rows, accounts);
  yield* gathered(WRITERS[format](range, { ...report, rows }));
}

/** Yields the first piece immediately, to start the response, then large ones: each piece wakes both processes. */
async function* gathered(pieces: AsyncIterable<string>): AsyncGenerator<string, void> {
  let text = '';
  let wanted = 1;
  for await (const piece of pieces) {
    text += piece;
    if (text.length < wanted) continue;
    yield text;
    text = '';
    wanted = PIECE_CHARACTERS;
  }
  if (text !== '') yield text;
}

/** Yields JSON in pieces: `{from, to, by, final, waitingFor, without, rows, totals}`, then `days` if asked for. */
async function* asJson(range: ReportRange, report: Report): AsyncGenerator<string, void> {
  const { from, to, by } = range;
  const waitingFor = (range.waitingFor ?? []).map(viewOf);
  const head = { from, to, by, final: isFinal(range), waitingFor, without: missingIn(range).map(viewOf) };
  let text = `${JSON.stringify(head).slice(0, -1)},"rows":[`;
  let separator = '';
  for await (const rows of report.rows) {
    for (const row of rows) {
      text += separator + JSON.stringify(row);
      separator = ',\n';
    }
    yield text;
    text = '';
  }
  yield `],${JSON.stringify(report.end()).slice(1)}\n`;
}

/** Yields CSV (RFC 4180). The totals come last: a file without them is incomplete. */
async function* asCsv(range: ReportRange, report: Report): AsyncGenerator<string, void> {
  const hasDay = range.by.includes('day');
  const labels = labelsOf(range);
  const money = range.prices === undefined ? [] : (['currency', ...MONEY, 'unknown'] as const);
  const columns = [
    ...labels,
    ...COUNTS,
    ...(range.corrections === true ? CORRECTED : []),
    ...money,
    ...(hasDay || money.length > 0 ? (['final', 'without'] as const) : []),
  ];
  let head = `${columns.join(',')}\r\n`;
  for await (const rows of report.rows) {
    yield head + rows.map((row) => csvLine(columns, row)).join('');
    head = '';
  }
  const total = Object.fromEntries(labels.map((label, index) => [label, index === 0 ? TOTAL : '']));
  const without = missingIn(range).map(({ gateway }) => gateway);
  const last = { ...total, ...report.end().totals, final: isFinal(range), without: without.join(' ') };
  yield head + csvLine(columns, last);
}

function csvLine(columns: readonly (keyof ReportRow)[], row: ReportRow): string {
  let line = '';
  for (const column of columns) {
    const value = row[column];
    line += `${line === '' ? '' : ','}${typeof value === 'string' ? csvField(value) : (value ?? '')}`;
  }
  return `${line}\r\n`;
}

/** Quotes a CSV field. Spreadsheets run text that begins like a formula: a leading apostrophe prevents that. */
export function csvField(text: string): string {
  const safe = /^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const WRITERS = { json: asJson, csv: asCsv, rows: (_: ReportRange, report: Report) => rowsText(report) };
