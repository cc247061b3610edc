import { linesIn, type AdminClient } from '../client.js';
import { CommandError } from '../command-error.js';

/** One row of the ledger by its columns, as the admin API's CSV names them. */
export type LedgerRow = ReadonlyMap<string, string>;

/** The ledger's rows as they come, for a query of `/admin/v1/usage`. Throws CommandError when they were cut short. */
export async function* readLedger(
  client: AdminClient,
  query: Readonly<Record<string, string>>,
): AsyncGenerator<LedgerRow, void> {
  const asked = new URLSearchParams({ ...query, names: 'false', format: 'csv' });
  const response = await client.open(`/admin/v1/usage?${asked.toString()}`);
  let columns: readonly string[] | undefined;
  try {
    for await (const line of linesIn(response)) {
      // Plans, keys, operations and days are plain words: nothing in this report is ever quoted.
      const fields = line.split(',');
      if (columns === undefined) columns = fields;
      else if (fields[0] === 'total') return;
      else yield new Map(columns.map((column, n) => [column, fields[n] ?? '']));
    }
  } finally {
    response.destroy();
  }
  throw new CommandError("The ledger was cut short while it was read. Try again; the gateway's log says more.");
}
