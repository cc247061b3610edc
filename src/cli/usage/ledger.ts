import { linesIn, type AdminClient } from '../client.js';
import { CommandError } from '../command-error.js';

/** One row of the ledger by its columns, as the admin API's CSV names them. */
export type LedgerRow = ReadonlyMap<string, string>;

/** Counts alone. */
const PLAIN = { names: 'false', corrections: 'false', amounts: 'false', format: 'csv' };

/** A quoted cell, with its quotes doubled, or a plain one (RFC 4180). */
const CELL = /(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g;
/** An apostrophe before what a spreadsheet would take for a formula. */
const HARMLESS = /^'(?='*[=+\-@])/;

/** Operations have any name but for control characters, so that no cell goes over lines. */
function cellsOf(line: string): readonly string[] {
  if (!/["']/.test(line)) return line.split(',');
  const cells = [...line.matchAll(CELL)].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '');
  return cells.map((cell) => cell.replace(HARMLESS, ''));
}

/** The ledger's rows as they come, for a query of `/admin/v1/usage`. Throws CommandError when they were cut short. */
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
      else yield new Map(columns.map((column, n) => [column, fields[n] ?? '']));
    }
  } finally {
    response.destroy();
  }
  throw new CommandError("The ledger was cut short while it was read. Try again; the gateway's log says more.");
}
