import type pg from 'pg';
import { InTurn } from '../../../shared/turns/in-turn.js';
import { COUNTS, noCounts, type UsageRow } from '../../store/records/counts.js';
import { mergeByKey } from './merge.js';
import type { Part } from '../../store/ledger.js';
import { COLUMNS, DayChecksum, type Checksum } from './checksum.js';
import { ArchiveDamaged } from './errors.js';

/** Rows to fetch at a time from a day's cursor. */
const FETCH_ROWS = 500;

/** Yields rows of archived days by key, in one snapshot. Uses a cursor per day: sorting all at once would need disk. */
export async function* readRows(
  client: pg.Client,
  days: readonly string[],
  { keyId, after }: Part,
): AsyncGenerator<readonly UsageRow[]> {
  await client.query('begin isolation level repeatable read, read only');
  const only =
    keyId !== undefined
      ? `and key = ${client.escapeLiteral(keyId)}`
      : typeof after === 'string'
        ? `and key > ${client.escapeLiteral(after)}`
        : '';
  const written = only === '' ? await checksumsOf(client, days) : new Map<string, Checksum>();
  const sources: AsyncIterable<readonly UsageRow[]>[] = [];
  const turns = new InTurn();
  for (const day of days) {
    const rows = await rowsOfDay(client, turns, day, only);
    const checksum = written.get(day);
    sources.push(checksum === undefined ? rows : checked(day, rows, checksum));
  }
  yield* mergeByKey(sources);
}

/** Returns the checksums of these days as written; missing days are omitted. */
export async function checksumsOf(
  client: pg.ClientBase,
  days: readonly string[],
): Promise<ReadonlyMap<string, Checksum>> {
  const { rows: found } = await client.query<{ day: string; rows: string } & Omit<Checksum, 'rows'>>(
    'select day::text, rows, totals, columns, sha256 from ledger_days where day = any($1)',
    [days],
  );
  return new Map(
    found.map(({ day, rows, totals, ...more }) => [
      day,
      { rows: Number(rows), totals: { ...noCounts(), ...totals }, ...more },
    ]),
  );
}

/** Yields all rows of a day. After the last, rejects with ArchiveDamaged if they differ from what was written. */
async function* checked(
  day: string,
  rows: AsyncIterable<readonly UsageRow[]>,
  written: Checksum,
): AsyncGenerator<readonly UsageRow[]> {
  const checksum = new DayChecksum(day, written.columns);
  for await (const batch of rows) {
    for (const row of batch) checksum.add(row);
    yield batch;
  }
  const found = checksum.result;
  if (found.sha256 !== written.sha256 || found.rows !== written.rows)
    throw new ArchiveDamaged(
      `The rows of ${day} in PostgreSQL are not the ones that Petgate wrote: restore that day from a backup ` +
        '(petgate usage archive verify lists all such days).',
    );
}

async function rowsOfDay(
  client: pg.Client,
  turns: InTurn,
  day: string,
  only: string,
): Promise<AsyncIterable<readonly UsageRow[]>> {
  const name = client.escapeIdentifier(`day ${day}`);
  const columns = COLUMNS.map((column) => client.escapeIdentifier(column)).join(', ');
  await client.query(
    `declare ${name} no scroll cursor for select ${columns}
     from ledger_rows where day = ${client.escapeLiteral(day)} ${only} order by key, plan, operation`,
  );
  return (async function* () {
    for (;;) {
      const { rows: fetched } = await turns.run('query', () =>
        client.query<(string | null)[]>({ text: `fetch ${FETCH_ROWS} from ${name}`, rowMode: 'array' }),
      );
      if (fetched.length > 0) yield fetched.map((row) => rowOf(day, row));
      if (fetched.length < FETCH_ROWS) return;
    }
  })();
}

/** Converts a fetched row, with fields in the order of COLUMNS. */
function rowOf(day: string, [key, plan, operation, ...fields]: readonly (string | null)[]): UsageRow {
  const counts = noCounts();
  for (const [n, count] of COUNTS.entries()) counts[count] = Number(fields[n]);
  return { key: key!, plan: plan!, operation: operation!, day, ...counts };
}

/** Computes a day's checksum from the rows in the table, within this transaction. */
export async function checksumIn(client: pg.Client, day: string): Promise<Checksum> {
  const checksum = new DayChecksum(day);
  for await (const batch of await rowsOfDay(client, new InTurn(), day, '')) for (const row of batch) checksum.add(row);
  await client.query(`close ${client.escapeIdentifier(`day ${day}`)}`);
  return checksum.result;
}

export async function rowsOfKeys(
  client: pg.Client,
  wanted: readonly Pick<UsageRow, 'key' | 'day'>[],
): Promise<readonly UsageRow[]> {
  const columns = COLUMNS.map((column) => `r.${client.escapeIdentifier(column)}`).join(', ');
  const { rows } = await client.query<(string | null)[]>({
    text: `select r.day::text, ${columns} from unnest($1::date[], $2::text[]) as wanted (day, key)
      join ledger_days d on d.day = wanted.day and d.verified
      join ledger_rows r on r.day = wanted.day and r.key = wanted.key collate "C"`,
    values: [wanted.map(({ day }) => day), wanted.map(({ key }) => key)],
    rowMode: 'array',
  });
  return rows.map(([day, ...row]) => rowOf(day!, row));
}

/** Raises each count to at least the given one. */
export async function raiseRows(client: pg.Client, day: string, rows: readonly UsageRow[]): Promise<void> {
  const columns = COLUMNS.map((column) => client.escapeIdentifier(column));
  const counts = columns.slice(-COUNTS.length);
  const greatest = counts.map((count) => `${count} = greatest(ledger_rows.${count}, excluded.${count})`);
  const types = ['text[]', 'text[]', 'text[]', ...COUNTS.map(() => 'bigint[]')];
  await client.query(
    `insert into ledger_rows (day, ${columns.join(', ')})
     select $1, * from unnest(${types.map((type, n) => `$${n + 2}::${type}`).join(', ')})
     on conflict (day, key, plan, operation) do update set ${greatest.join(', ')}`,
    [day, ...COLUMNS.map((column) => rows.map((row) => row[column]))],
  );
}
