import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { createLog, type Log } from '../shared/log.js';
import { buildPetsApp } from './app.js';
import { readConfig, StartFailure, type PetsConfig } from './config.js';
import { openEmbeddedStore } from './store/embedded.js';
import type { PetStore } from './store/port.js';
import { openPostgresStore } from './store/postgres.js';

/** How long requests in flight may take to finish after a stop. */
const FINISH_MS = 8_000;
/** How long closing the store may then take, before the process exits anyway. */
const CLOSE_MS = 2_000;

/**
 * Starts pets; resolves once it listens. It stops on SIGTERM or SIGINT. A StartFailure becomes one line on standard
 * error and exit code 1.
 */
export async function runPets(environment: NodeJS.ProcessEnv): Promise<void> {
  try {
    await start(readConfig(environment));
  } catch (error) {
    if (!(error instanceof StartFailure)) throw error;
    process.stderr.write(`pets cannot start: ${error.message}\n`);
    process.exit(1);
  }
}

async function start(config: PetsConfig): Promise<void> {
  const log = createLog('pets', config.logLevel);
  const store = await openStore(config, log);
  let draining = false;
  const app = buildPetsApp({ store, internalToken: config.internalToken, log, isDraining: () => draining });
  const sockets = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  try {
    const address = await app.listen({ host: config.host, port: config.port });
    log.info({ address, store: config.databaseUrl === null ? 'embedded' : 'postgres' }, 'pets listens');
  } catch (error) {
    await store.close();
    throw new StartFailure(
      `cannot listen on ${config.host}:${config.port} (${reasonOf(error)}): set PETS_HOST and PETS_PORT to an ` +
        'address that is free',
    );
  }
  const stop = (signal: string): void => {
    if (draining) return;
    draining = true;
    log.info({ signal }, 'pets stops');
    finish(app, store, sockets, log).catch((error: unknown) => {
      log.error({ err: error }, 'pets did not stop cleanly');
      process.exitCode = 1;
    });
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
}

/** Stops accepting connections, lets requests finish and closes the store; then nothing keeps the process alive. */
async function finish(app: FastifyInstance, store: PetStore, sockets: ReadonlySet<Socket>, log: Log): Promise<void> {
  setTimeout(() => process.exit(1), FINISH_MS + CLOSE_MS).unref();
  const patience = setTimeout(() => {
    log.warn({ connections: sockets.size }, 'requests took too long to finish');
    for (const socket of sockets) socket.destroy();
  }, FINISH_MS);
  // Closing the server waits for every connection, even one that never sent anything.
  for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  await app.close();
  clearTimeout(patience);
  await store.close();
}

async function openStore(config: PetsConfig, log: Log): Promise<PetStore> {
  if (config.databaseUrl === null) {
    const folder = join(config.dataFolder, 'pets');
    try {
      return openEmbeddedStore(folder);
    } catch (error) {
      throw new StartFailure(
        `cannot open the store in ${folder} (${reasonOf(error)}): make PETGATE_DATA a folder on a local disk ` +
          'that can be written to',
      );
    }
  }
  try {
    return await openPostgresStore(config.databaseUrl, (error) =>
      log.warn({ err: error }, 'lost a connection to PostgreSQL'),
    );
  } catch (error) {
    throw new StartFailure(
      `cannot use the database of DATABASE_URL (${reasonOf(error)}): see that it runs and that host, user and ` +
        'database are right',
    );
  }
}

/**
 * Returns the reason in one line. If several addresses refuse a connection, the reasons are inside an AggregateError.
 */
function reasonOf(error: unknown): string {
  const inner = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  const reason = inner instanceof Error ? inner.message || inner.name : 'unknown reason';
  return reason.replace(/\s+/g, ' ');
}
