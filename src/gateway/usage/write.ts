import { reportAsPage } from './page.js';
import type { ReportRange } from './range.js';
import { References } from './references.js';
import type { CustomerPages } from './references.js';
import { reportAsCsv, reportAsJson } from './report.js';
import type { Ledger } from './report.js';

/** What a report can be written as. */
export type Format = 'json' | 'csv' | 'html';

/** Characters sent at once. */
const PIECE_CHARACTERS = 65_536;

/**
 * The report in `format`, piece by piece.
 * @param customers to look up references; left out, they are empty
 */
export function writeReport(
  format: Format,
  range: ReportRange,
  ledger: Ledger,
  customers?: CustomerPages,
): AsyncGenerator<string, void> {
  const references = customers && range.by.includes('customer') ? new References(customers) : undefined;
  return gathered(lines(format, range, ledger, references));
}

function lines(
  format: Format,
  range: ReportRange,
  ledger: Ledger,
  references?: References,
): AsyncGenerator<string, void> {
  switch (format) {
    case 'json':
      return reportAsJson(range, ledger, references);
    case 'csv':
      return reportAsCsv(range, ledger, references);
    case 'html':
      return reportAsPage(range, ledger, references);
  }
}

/** The first piece at once, so that whoever asked sees it begin; then few large ones: each wakes the gateway and the reader. */
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
