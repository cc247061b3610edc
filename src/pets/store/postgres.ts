import pg from 'pg';
import { migratePets } from './migrations.js';
import { StoreUnavailable, type NewPet, type Page, type Pet, type PetStatus, type PetStore } from './port.js';

/** With QUERY_MS added, any call ends within two seconds, whatever the database does. */
const CONNECT_MS = 800;
const QUERY_MS = 1_000;
const CONNECTIONS = 10;

/** SQLSTATE classes of data, integrity and syntax errors: bugs in this program, which a retry cannot fix. */
const MISTAKE = /^(?:22|23|42)/;

/** pg returns int8 as text, which keeps every digit. */
interface PetRow {
  readonly id: string;
  readonly name: string;
  readonly category_id: string;
  readonly status: PetStatus | null;
}

/** Migrates the database at `url` and opens the catalogue in it. Rejects if it can't be reached or used. */
export async function openPostgresStore(url: string, onIdleError: (error: Error) => void): Promise<PetStore> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    query_timeout: 60_000,
    application_name: 'petgate-pets',
  });
  client.on('error', onIdleError);
  try {
    await client.connect();
    await requireUnicode(client);
    await migratePets(client);
  } finally {
    await client.end().catch(() => undefined);
  }
  return new PostgresStore(url, onIdleError);
}

/** Throws unless the encoding is UTF8: others cannot store every name, and SQL_ASCII does not check what it stores. */
async function requireUnicode(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ server_encoding: string }>('show server_encoding');
  const encoding = rows[0]?.server_encoding;
  if (encoding !== 'UTF8')
    throw new Error(`its encoding is ${encoding ?? 'not known'}: create the database with encoding UTF8`);
}

class PostgresStore implements PetStore {
  readonly #pool: pg.Pool;

  constructor(url: string, onIdleError: (error: Error) => void) {
    this.#pool = new pg.Pool({
      connectionString: url,
      application_name: 'petgate-pets',
      max: CONNECTIONS,
      connectionTimeoutMillis: CONNECT_MS,
      // No `statement_timeout` as well: PgBouncer refuses connections that set it.
      query_timeout: QUERY_MS,
      idleTimeoutMillis: 30_000,
      keepAlive: true,
    });
    // A connection broke while idle; the pool has already dropped it.
    this.#pool.on('error', onIdleError);
  }

  async add(pet: NewPet): Promise<Pet> {
    const [row] = await this.#query<{ id: string }>(
      'insert into pets (name, category_id, status) values ($1, $2, $3) returning id',
      [pet.name, pet.categoryId, pet.status ?? null],
    );
    return { id: BigInt(row!.id), ...pet };
  }

  async read(id: bigint): Promise<Pet | undefined> {
    const [row] = await this.#query<PetRow>('select id, name, category_id, status from pets where id = $1', [id]);
    return row === undefined ? undefined : petOf(row);
  }

  /**
   * If two pets are added at the same time, the one with the smaller id may be committed last; a list that is already
   * past that id does not show it. A pet committed before the list began appears exactly once.
   */
  async page({ afterId, count, status }: Page): Promise<readonly Pet[]> {
    const [only, values] = status === undefined ? ['', []] : ['status = $3 and ', [status]];
    const rows = await this.#query<PetRow>(
      `select id, name, category_id, status from pets where ${only}id > $1 order by id limit $2`,
      [afterId, count, ...values],
    );
    return rows.map(petOf);
  }

  async check(): Promise<void> {
    await this.#query('select 1 from pets limit 1', []);
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  async #query<Row extends pg.QueryResultRow>(sql: string, values: readonly unknown[]): Promise<readonly Row[]> {
    try {
      return (await this.#pool.query<Row>(sql, [...values])).rows;
    } catch (error) {
      if (error instanceof pg.DatabaseError && MISTAKE.test(error.code ?? '')) throw error;
      const reason = error instanceof Error ? error.message : 'unknown reason';
      throw new StoreUnavailable(`PostgreSQL did not respond (${reason}).`, { cause: error });
    }
  }
}

function petOf({ id, name, category_id: categoryId, status }: PetRow): Pet {
  return { id: BigInt(id), name, categoryId: BigInt(categoryId), ...(status !== null && { status }) };
}
