import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import pg from 'pg';
import { stateOf } from '../store/redis/trust/eviction.js';
import type { Settings } from './schema/gateway.js';

/** The oldest supported version. */
const POSTGRES = 13;
const CONNECT_MS = 5_000;

/**
 * Asks the store in the settings, without writing. Rejects with StoreUnavailable if it does not respond.
 * @returns what is wrong, one line each, and whether it may already contain keys, shared with other gateways
 */
export async function askStore({ store, data }: Settings) {
  if (store.redis === undefined) return { problems: folderProblems(data), holdsKeys: false };
  const { evicts, isUsed } = await stateOf(store.redis, store.deadline);
  const problems = evicts === null || store.eviction === 'accept' ? [] : [`Redis can't be relied on: ${evicts}`];
  return { problems, holdsKeys: isUsed };
}

/**
 * Returns what is wrong with the PostgreSQL at `url` (from `variable`), in one line or none. Never shows the address.
 */
export async function askPostgres(variable: string, url: string | null | undefined): Promise<readonly string[]> {
  if (typeof url !== 'string') return [];
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: CONNECT_MS,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ server_version: string }>('show server_version');
    const version = rows[0]?.server_version ?? 'of no version';
    if (Number.parseInt(version, 10) >= POSTGRES) return [];
    return [`PostgreSQL at ${variable} is ${version}: ${POSTGRES} or newer is needed`];
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return [`PostgreSQL at ${variable} can't be used: ${message === '' ? (code ?? 'no answer') : message}`];
  } finally {
    await client.end().catch(() => undefined);
  }
}

function folderProblems(folder: string): readonly string[] {
  let nearest = folder;
  while (!existsSync(nearest)) nearest = dirname(nearest);
  try {
    accessSync(nearest, constants.W_OK | constants.X_OK);
    return [];
  } catch {
    return [`${nearest} is not writable; the store is in the data folder (PETGATE_DATA)`];
  }
}
