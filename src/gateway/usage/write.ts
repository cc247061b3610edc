import { reportAsPage } from './page.js';
import type { ReportRange } from './range.js';
import { reportAsCsv, reportAsJson } from './report.js';
import type { Ledger } from './report.js';

/** What a report can be written as. */
export type Format = 'json' | 'csv' | 'html';

/** Characters sent at once. */
const PIECE_CHARACTERS = 65_536;

/** The report in `format`, piece by piece. @param keyId the one key it is about, if so */
export function writeReport(
  format: Format,
  range: ReportRange,
  ledger: Ledger,
  keyId?: string,
): AsyncGenerator<string, void> {
  return gathered(lines(format, range, ledger, keyId));
}

function lines(format: Format, range: ReportRange, ledger: Ledger, keyId?: string): AsyncGenerator<string, void> {
  switch (format) {
    case 'json':
      return reportAsJson(range, ledger);
    case 'csv':
      return reportAsCsv(range, ledger);
    case 'html':
      return reportAsPage(range, ledger, keyId);
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
