import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { packageRoot } from '../../src/shared/package-root.js';
import { freePort } from './free-port.js';

const DEBIAN = '/usr/lib/postgresql';
const START_MS = 120_000;

export interface PostgresServer {
  /** A superuser's URL of the database `postgres`. */
  readonly url: string;
  /** Makes an empty database and gives its URL, so that one server serves many tests. */
  createDatabase(name: string, options?: string): Promise<string>;
  /** Ends the server and removes its folder. May be called twice. */
  stop(): Promise<void>;
}

/** Starts a PostgreSQL of its own in a temporary folder, on 127.0.0.1 and a free port. */
export async function startPostgres(): Promise<PostgresServer> {
  const bin = findBinaries();
  const folder = mkdtempSync(join(tmpdir(), 'petgate-postgres-'));
  const port = await freePort();
  let server: ChildProcess | undefined;
  // When the test process ends without stop(), nothing of ours stays.
  const abandon = (): void => {
    server?.kill('SIGQUIT');
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  process.once('exit', abandon);
  const stop = async (): Promise<void> => {
    process.off('exit', abandon);
    if (server !== undefined) await ended(server, 'SIGINT');
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    initialise(bin, folder);
    server = launch(bin, folder, port);
    const url = `postgres://petgate@127.0.0.1:${port}/postgres`;
    await accepting(url, server);
    return { url, stop, createDatabase: (name, options = '') => createDatabase(url, name, options) };
  } catch (error) {
    await stop();
    throw error;
  }
}

function findBinaries(): string {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN) : [];
  const newest = versions
    .map(Number)
    .filter(Number.isFinite)
    .sort((a, b) => b - a)[0];
  const bin = join(DEBIAN, String(newest), 'bin');
  if (newest !== undefined && existsSync(join(bin, 'initdb')) && existsSync(join(bin, 'postgres'))) return bin;
  throw new Error(`No PostgreSQL server under ${DEBIAN}. Install one: apt-get install postgresql`);
}

/** PostgreSQL refuses to run as root: it then runs as the user its package made, whom the folder is given to. */
function asServer(bin: string, program: string, args: readonly string[]): [string, string[]] {
  const path = join(bin, program);
  if (process.getuid?.() !== 0) return [path, [...args]];
  // The kernel ends it with us, also when we are killed.
  return [
    'setpriv',
    ['--reuid=postgres', '--regid=postgres', '--clear-groups', '--pdeathsig=QUIT', '--', path, ...args],
  ];
}

/** Gives `folder` a cluster: a copy, for `initdb` takes seconds and most tests need the same. */
function initialise(bin: string, folder: string): void {
  const made = join(packageRoot, 'dist', `postgres-${basename(dirname(bin))}`);
  if (!existsSync(made)) {
    const fresh = mkdtempSync(join(tmpdir(), 'petgate-initdb-'));
    giveToServer(fresh);
    const options = ['-U', 'petgate', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
    run(...asServer(bin, 'initdb', ['-D', join(fresh, 'db'), ...options]), fresh);
    run('cp', ['-a', join(fresh, 'db'), `${made}-${process.pid}`], '/');
    rmSync(fresh, { recursive: true });
    try {
      renameSync(`${made}-${process.pid}`, made);
    } catch {
      // Another test was faster.
      rmSync(`${made}-${process.pid}`, { recursive: true });
    }
  }
  giveToServer(folder);
  run('cp', ['-a', made, join(folder, 'db')], '/');
}

function giveToServer(folder: string): void {
  if (process.getuid?.() !== 0) return;
  const id = (flag: string): number => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout);
  chownSync(folder, id('-u'), id('-g'));
}

function run(program: string, args: readonly string[], cwd: string): void {
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8', cwd });
  if (status !== 0) throw new Error(`${program} failed: ${stderr}`);
}

function launch(bin: string, folder: string, port: number): ChildProcess {
  // Power cuts are not what these tests are about; killed servers lose nothing either way.
  const settings = { listen_addresses: '127.0.0.1', unix_socket_directories: '', fsync: 'off', max_connections: '100' };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const [program, args] = asServer(bin, 'postgres', ['-D', join(folder, 'db'), '-p', String(port), ...flags]);
  return spawn(program, args, { cwd: folder, stdio: 'ignore' });
}

async function accepting(url: string, server: ChildProcess): Promise<void> {
  const giveUpAtMs = Date.now() + START_MS;
  for (;;) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return;
    } catch (error) {
      if (server.exitCode !== null || Date.now() > giveUpAtMs)
        throw new Error('PostgreSQL did not start', { cause: error });
      await pause(50);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

async function createDatabase(url: string, name: string, options: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`create database ${client.escapeIdentifier(name)} ${options}`);
  } finally {
    await client.end();
  }
  const made = new URL(url);
  made.pathname = `/${name}`;
  return made.href;
}

/** Ends the process, politely first. */
async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const end = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  const hurry = setTimeout(() => child.kill('SIGQUIT'), 5_000);
  await end;
  clearTimeout(hurry);
}
