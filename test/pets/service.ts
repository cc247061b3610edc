import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { buildPetsApp } from '../../src/pets/app.js';
import { openEmbeddedStore } from '../../src/pets/store/embedded.js';
import type { PetStore } from '../../src/pets/store/port.js';
import { openPostgresStore } from '../../src/pets/store/postgres.js';
import { createLog } from '../../src/shared/log.js';
import type { PostgresServer } from '../servers/postgres.js';

export const TOKEN = 'internal-token-of-the-tests';
const PROGRAM = fileURLToPath(new URL('program.js', import.meta.url));

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Calls a running service with the internal token. */
export interface Caller {
  readonly url: string;
  readonly port: number;
  send(method: string, path: string, body?: string | Uint8Array, headers?: Record<string, string>): Promise<Answer>;
}

export function callerOf(url: string): Caller {
  return {
    url,
    port: Number(new URL(url).port),
    async send(method, path, body, headers = {}) {
      const json = body === undefined ? {} : { 'content-type': 'application/json' };
      const response = await fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${TOKEN}`, ...json, ...headers },
        ...(body !== undefined && { body }),
      });
      return { status: response.status, headers: response.headers, text: await response.text() };
    },
  };
}

/** Sends bytes as they are and gives all that comes back until the connection ends. */
export function sendRaw(port: number, bytes: string | Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.setTimeout(5_000, () =>
      socket.destroy(new Error(`no end of connection after ${Buffer.concat(chunks).toString()}`)),
    );
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()));
  });
}

/** Serves `store` on a free port until the test is over. */
export async function serve(t: Test, store: PetStore, isDraining = (): boolean => false): Promise<Caller> {
  const app = buildPetsApp({ store, internalToken: TOKEN, log: createLog('pets', 'silent'), isDraining });
  t.teardown(async () => {
    app.server.closeAllConnections();
    await app.close();
    await store.close();
  });
  return callerOf(await app.listen({ host: '127.0.0.1', port: 0 }));
}

export function temporaryFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'petgate-pets-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

type StoreKind = 'embedded' | 'postgres';

/** An empty store of that kind. */
export async function emptyStore(t: Test, kind: StoreKind, server: PostgresServer): Promise<PetStore> {
  if (kind === 'embedded') return openEmbeddedStore(join(temporaryFolder(t), 'pets'));
  return openPostgresStore(await server.createDatabase(`t${process.hrtime.bigint().toString()}`), () => undefined);
}

interface Program {
  readonly child: ChildProcess;
  readonly caller: Caller;
  /** Code or signal it ended with, and all it wrote. */
  readonly ended: Promise<{ code: number | null; signal: string | null; stdout: string; stderr: string }>;
}

/** Starts the real program; `caller` answers once it listens. `wrap` is put before node on the command line. */
export async function startProgram(
  t: Test,
  environment: Record<string, string>,
  wrap: readonly string[] = [],
): Promise<Program> {
  const program = runProgram(t, environment, wrap);
  const address = await Promise.race([
    new Promise<string>((resolve) => {
      let seen = '';
      program.child.stdout?.on('data', (chunk: Buffer) => {
        seen += chunk.toString();
        const found = /"address":"(http:[^"]+)"/.exec(seen)?.[1];
        if (found !== undefined) resolve(found);
      });
    }),
    program.ended.then(({ stdout, stderr }) => {
      throw new Error(`the program ended: ${stdout}${stderr}`);
    }),
  ]);
  return { ...program, caller: callerOf(address) };
}

/** Starts the real program and doesn't wait for it to listen. */
export function runProgram(
  t: Test,
  environment: Record<string, string>,
  wrap: readonly string[] = [],
): Omit<Program, 'caller'> {
  const [command, ...args] = [...wrap, process.execPath, ...process.execArgv, PROGRAM];
  const { PATH = '' } = process.env;
  const child = spawn(command, args, {
    env: { PATH, PETS_PORT: '0', PETGATE_INTERNAL_TOKEN: TOKEN, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = new Promise<{ code: number | null; signal: string | null; stdout: string; stderr: string }>(
    (resolve) => {
      child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
    },
  );
  t.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return { child, ended };
}
