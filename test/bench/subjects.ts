import { fork, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { packageRoot } from '../../src/shared/package-root.js';
import { until } from '../servers/until.js';

/** Connections to the service behind, for the bare proxy and the gateway alike. */
export const CONNECTIONS = 64;
const KEYS = 100;
const ADMIN_TOKEN = 'admin-token-of-the-bench';

/** Something that proxies, in a process of its own. */
export interface Subject {
  readonly name: string;
  readonly pid: number;
  readonly port: number;
  readonly keys: readonly (string | null)[];
  /** The store's process, whose CPU is told apart. */
  readonly storePid?: number;
}

export interface Started {
  readonly child: ChildProcess;
  readonly port: number;
}

/** Starts a script of this folder, which tells its port. It ends with this process. */
export async function startScript(name: string, ...args: readonly string[]): Promise<Started> {
  const child = fork(fileURLToPath(new URL(`${name}.js`, import.meta.url)), args);
  const [port] = (await once(child, 'message')) as [number];
  return { child, port };
}

const ROOMY = { limits: { minute: 100_000_000, day: 100_000_000 }, ban: { after: 30, within: '60s', for: '5m' } };

export interface GatewayOptions {
  readonly name: string;
  readonly folder: string;
  readonly upstreamPort: number;
  /** One line per exchange, into a file. */
  readonly accessLog: boolean;
  readonly redis?: { readonly url: string; readonly pid: number };
}

/** A real gateway with limits that are counted and never reached, and keys for it. It ends with this process. */
export async function startGateway(options: GatewayOptions): Promise<{ subject: Subject; child: ChildProcess }> {
  const { name, folder, upstreamPort, accessLog, redis } = options;
  mkdirSync(folder, { recursive: true });
  const configFile = join(folder, 'gateway.yaml');
  writeFileSync(join(folder, 'plans.yaml'), stringify({ roomy: ROOMY, anonymous: ROOMY }, { aliasDuplicateObjects: false }));
  writeFileSync(configFile, stringify({
    extends: join(packageRoot, 'config/gateway.yaml'),
    plans: 'plans.yaml',
    log: { access: accessLog },
    store: { deadline: '5s' },
    upstreams: { pets: { addresses: [`http://127.0.0.1:${upstreamPort}`], connections: CONNECTIONS } },
  }));
  const logFile = join(folder, 'log');
  const log = openSync(logFile, 'w');
  const child = spawn(process.execPath, [join(packageRoot, 'dist/src/cli/main.js'), 'gateway'], {
    env: {
      PATH: process.env['PATH'], HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '0', PETGATE_CONFIG: configFile, PETGATE_DATA: join(folder, 'data'),
      PETGATE_ADMIN_TOKEN: ADMIN_TOKEN, PETGATE_INTERNAL_TOKEN: 'internal-token-of-the-bench', ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
    },
    // The channel lets the gateway end with this process, however that goes.
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  const serving = await servingLine(logFile, child);
  const keys = await Promise.all(Array.from({ length: KEYS }, () => createKey(serving.admin)));
  const port = Number(serving.public.split(':')[1]);
  return { child, subject: { name, pid: child.pid!, port, keys, ...(redis === undefined ? {} : { storePid: redis.pid }) } };
}

async function servingLine(logFile: string, child: ChildProcess): Promise<{ public: string; admin: string }> {
  let line: string | undefined;
  await until('the gateway serves', () => {
    line = readFileSync(logFile, 'utf8').split('\n').find((text) => text.includes('"msg":"serving"'));
    return line !== undefined || child.exitCode !== null;
  }, 20_000);
  if (line === undefined) throw new Error(`the gateway ended: ${readFileSync(logFile, 'utf8')}`);
  return JSON.parse(line) as { public: string; admin: string };
}

async function createKey(admin: string): Promise<string> {
  const answer = await fetch(`http://${admin}/admin/v1/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ plan: 'roomy', name: 'bench' }),
  });
  const { key } = (await answer.json()) as { key?: string };
  if (key === undefined) throw new Error(`no key: ${answer.status}`);
  return key;
}
