import { Socket } from 'node:net';
import pg from 'pg';
import { ArchiveDamaged, ArchiveUnavailable } from './errors.js';

const CONNECT_MS = 5_000;
/** Deadline of a query, so that nothing waits indefinitely for a lock or an unresponsive server. */
const QUERY_MS = 30_000;
/** Deadline of a query in a transaction, which may write or delete a whole day. */
const WRITE_MS = 600_000;
const END_MS = 1_000;

/** Opens a connection to the database. @param queryMs deadline of each query */
export type Connect = (queryMs?: number) => Promise<pg.Client>;

export function connectTo(url: string, options: pg.ClientConfig = {}): Connect {
  return async (queryMs = QUERY_MS) => {
    const socket = new Socket();
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: queryMs,
      application_name: 'petgate-ledger',
      keepAlive: true,
      stream: () => socket,
      ...options,
    });
    client.on('error', () => undefined);
    sockets.set(client, socket);
    await client.connect();
    return client;
  };
}

const sockets = new WeakMap<pg.Client, Socket>();

/** Closes a connection; after a second without a response from the server, by force. */
export async function endOf(client: pg.Client | undefined): Promise<void> {
  if (client === undefined) return;
  const timer = setTimeout(() => sockets.get(client)?.destroy(), END_MS);
  await client.end().catch(() => undefined);
  clearTimeout(timer);
}

/** Runs `work` in a transaction on a separate connection, so that other queries can run meanwhile. */
export async function inTransaction<T>(connect: Connect, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connect(WRITE_MS);
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } finally {
    // Without a commit, closing the connection rolls the transaction back.
    await endOf(client);
  }
}

/** Returns a database error as ArchiveUnavailable; errors of the archive itself as they are. */
export function unavailable(error: unknown): Error {
  if (error instanceof ArchiveDamaged || error instanceof ArchiveUnavailable) return error;
  const said = error instanceof Error ? error.message : String(error);
  const reason =
    said === 'Query read timeout' ? 'it did not respond to a query in time; check its locks and its load' : said;
  return new ArchiveUnavailable(`The archive of the ledger, PostgreSQL at LEDGER_URL, can't be used (${reason}).`, {
    cause: error,
  });
}
