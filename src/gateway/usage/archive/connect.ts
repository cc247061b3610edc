import pg from 'pg';
import { ArchiveDamaged, ArchiveUnavailable } from './errors.js';

const CONNECT_MS = 5_000;

/** A connection of its own to the database. */
export type Connect = () => Promise<pg.Client>;

export function connectTo(url: string, options: pg.ClientConfig = {}): Connect {
  return async () => {
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_MS,
      application_name: 'petgate-ledger',
      keepAlive: true,
      ...options,
    });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  };
}

/** Does `work` in one transaction, on a connection of its own: others may ask meanwhile. */
export async function inTransaction<T>(connect: Connect, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connect();
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } finally {
    // One that was not committed is rolled back with its connection.
    await client.end().catch(() => undefined);
  }
}

/** What an error of the database is to whoever asked for the archive. */
export function unavailable(error: unknown): Error {
  if (error instanceof ArchiveDamaged || error instanceof ArchiveUnavailable) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new ArchiveUnavailable(`The archive of the ledger, PostgreSQL at LEDGER_URL, can't be used (${reason}).`, {
    cause: error,
  });
}
