import { reportAsPage } from './page.js';
import type { ReportRange } from './range.js';
import { reportAsCsv, reportAsJson } from './report.js';
import type { Ledger } from './report.js';

/** What a report can be written as. */
export type Format = 'json' | 'csv' | 'html';

/** The report in `format`, piece by piece. @param keyId the one key it is about, if so */
export function writeReport(format: Format, range: ReportRange, ledger: Ledger, keyId?: string): AsyncGenerator<string, void> {
  switch (format) {
    case 'json': return reportAsJson(range, ledger);
    case 'csv': return reportAsCsv(range, ledger);
    case 'html': return reportAsPage(range, ledger, keyId);
  }
}
