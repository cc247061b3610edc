import { linesIn, type AdminClient } from '../admin/admin-client.js';
import { CommandError } from '../terminal/command-error.js';

/** One row of the ledger, by the columns of the admin API's CSV. */
export type LedgerRow = Readonly<Record<string, string>>;

/** Only counts. */
const PLAIN = { names: 'false', corrections: 'false', amounts: 'false', format: 'csv' };

/** A quoted cell, with its quotes doubled, or a plain one (RFC 4180). */
const CELL = /(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g;
/** The apostrophe that the CSV has before text that a spreadsheet would take for a formula. */
const HARMLESS = /^'(?='*[=+\-@])/;

/** Splits a line into cells. No cell has a line break: names of operations contain no control characters. */
function cellsOf(line: string): readonly string[] {
  if (!/["']/.test(line)) return line.split(',');
  const cells = [...line.matchAll(CELL)].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '');
  return cells.map((cell) => cell.replace(HARMLESS, ''));
}

/** Yields the ledger's rows for a query of `/admin/v1/usage`. Throws CommandError if the response is cut short. */
export async function* readLedger(
  client: AdminClient,
  query: Readonly<Record<string, string>>,
): AsyncGenerator<LedgerRow, void> {
  const asked = new URLSearchParams({ ...PLAIN, ...query });
  const response = await client.open(`/admin/v1/usage?${asked.toString()}`);
  let columns: readonly string[] | undefined;
  try {
    for await (const line of linesIn(response)) {
      const fields = cellsOf(line);
      if (columns === undefined) columns = fields;
      else if (fields[0] === 'total') return;
      else yield Object.fromEntries(columns.map((column, n) => [column, fields[n] ?? '']));
    }
  } finally {
    response.destroy();
  }
  throw new CommandError('The response with the ledger is incomplete. Check the log of the gateway, then try again.');
}
