import { CORRECTED, COUNTS } from '../store/records/counts.js';
import { CUSTOMER_ID_LENGTH, customerOf } from '../store/records/customer-id.js';
import type { Accounts } from '../store/ledger.js';
import { areCorrected } from '../store/records/correction.js';
import type { UsageStore } from '../store/port.js';
import type { UsageRow } from '../store/records/counts.js';
import { withCorrections } from './grouping/corrections.js';
import { Groups, type Ledger, type ReportRow } from './grouping/groups.js';
import { isFinal, labelsOf, missingIn, viewOf, type ReportRange } from './grouping/range.js';
import { tableOf, type Table } from './table.js';

export type Format = 'json' | 'csv';

/** Minimum size of a piece after the first. */
const PIECE_CHARACTERS = 65_536;

/** Additional columns of a report with amounts. */
const MONEY = ['currency', 'base', 'included', 'overage', 'amount', 'unknown'] as const;

/** First cell of the last CSV line. */
const TOTAL = 'total';

/** Yields the text of a report in pieces. @param accounts for names, references, corrections and amounts */
export async function* writeReport(
  format: Format,
  asked: ReportRange,
  usage: UsageStore,
  accounts?: Accounts,
): AsyncGenerator<string, void> {
  const isCorrected = accounts !== undefined && asked.corrections !== false && (await areCorrected(accounts));
  const range = { ...asked, corrections: isCorrected };
  const { from, to, key, customer } = range;
  // The IDs of a customer's keys begin with its own.
  const rows = usage.rows(from, to, key, customer);
  const counted = customer === undefined ? rows : rowsOfCustomer(rows, customer);
  const ledger = isCorrected ? withCorrections(counted, accounts, range) : counted;
  if (format === 'csv' || range.days !== true)
    return yield* gathered(WRITERS[format](range, tableOf(range, ledger, accounts)));
  const days = new Groups({ ...range, by: ['day', 'plan'] });
  yield* gathered(reportAsJson(range, tableOf(range, countedIn(days, ledger), accounts), days));
}

async function* countedIn(groups: Groups, ledger: Ledger): AsyncGenerator<readonly UsageRow[], void> {
  for await (const batch of ledger) {
    groups.take(batch);
    yield batch;
  }
}

/** Yields the rows of a customer's keys from rows in the order of IDs. Stops reading after them. */
export async function* rowsOfCustomer(rows: Ledger, customer: string): AsyncGenerator<readonly UsageRow[], void> {
  for await (const batch of rows) {
    const own = batch.filter(({ key }) => customerOf(key) === customer);
    if (own.length > 0) yield own;
    if ((batch.at(-1)?.key ?? '').slice(0, CUSTOMER_ID_LENGTH) > customer) return;
  }
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

/**
 * Yields JSON in pieces: `{from, to, by, final, waitingFor, without, rows, totals}`, then `days` if given: it is
 * complete only after all rows.
 */
export async function* reportAsJson(range: ReportRange, table: Table, days?: Groups): AsyncGenerator<string, void> {
  const { from, to, by } = range;
  const waitingFor = (range.waitingFor ?? []).map(viewOf);
  const head = { from, to, by, final: isFinal(range), waitingFor, without: missingIn(range).map(viewOf) };
  let text = `${JSON.stringify(head).slice(0, -1)},"rows":[`;
  let separator = '';
  for await (const rows of table.rows) {
    for (const row of rows) {
      text += separator + JSON.stringify(row);
      separator = ',\n';
    }
    yield text;
    text = '';
  }
  const more = days === undefined ? '' : `,"days":${JSON.stringify(days.flush())}`;
  yield `],"totals":${JSON.stringify(table.totals())}${more}}\n`;
}

/** Yields CSV (RFC 4180). The totals come last: a file without them is incomplete. */
export async function* reportAsCsv(range: ReportRange, table: Table): AsyncGenerator<string, void> {
  const hasDay = range.by.includes('day');
  const labels = labelsOf(range);
  const money = range.prices === undefined ? [] : MONEY;
  const columns = [
    ...labels,
    ...COUNTS,
    ...(range.corrections === true ? CORRECTED : []),
    ...money,
    ...(hasDay || money.length > 0 ? (['final', 'without'] as const) : []),
  ];
  let head = `${columns.join(',')}\r\n`;
  for await (const rows of table.rows) {
    yield head + rows.map((row) => csvLine(columns, row)).join('');
    head = '';
  }
  const total = Object.fromEntries(labels.map((label, index) => [label, index === 0 ? TOTAL : '']));
  const without = missingIn(range).map(({ gateway }) => gateway);
  const last = { ...total, ...table.totals(), final: isFinal(range), without: without.join(' ') };
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

const WRITERS = { json: reportAsJson, csv: reportAsCsv };
