import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { packageRoot } from '../../src/shared/package-root.js';
import type { Issued } from './certificate.js';
import type { Target } from './dial.js';
import { startProgram, temporaryFolder, type Program, type Teardown } from './program.js';
import { until } from './until.js';

export const ADMIN_TOKEN = 'admin-token-of-the-tests';
export const INTERNAL_TOKEN = 'internal-token-of-the-tests';

export interface Gateway {
  readonly program: Program;
  readonly url: string;
  readonly port: number;
  /** What to dial. */
  readonly target: Target;
  readonly adminUrl: string;
  readonly dataFolder: string;
  /** The lines of its access log so far. */
  readonly exchanges: () => ReturnType<Program['lines']>;
  readonly admin: (method: string, path: string, body?: unknown) => Promise<{ status: number; body: unknown }>;
  readonly createKey: (fields: Readonly<Record<string, unknown>>) => Promise<{ id: string; key: string }>;
}

export interface GatewayOptions {
  /** Laid over config/gateway.yaml. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Replaces config/plans.yaml. */
  readonly plans?: Readonly<Record<string, unknown>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly dataFolder?: string;
  /** The public listener speaks TLS with this one. */
  readonly tls?: Issued;
}

/** What Node says last of a process that an error ended, whoever replaced it. */
const FELL = /^Node\.js v/m;

function checkNoneFell(program: Program): void {
  const output = program.output();
  const at = output.search(FELL);
  if (at !== -1) throw new Error(`an error ended a process of a gateway: ${output.slice(Math.max(0, at - 2_000), at)}`);
}

/** A real gateway process on free ports; ends with the test, and fails it where a process fell over an error. */
export async function startGateway(t: Teardown, options: GatewayOptions = {}): Promise<Gateway> {
  const dataFolder = options.dataFolder ?? temporaryFolder(t);
  const program = startProgram(['gateway'], {
    HOST: '127.0.0.1',
    PORT: '0',
    ADMIN_PORT: '0',
    PETGATE_DATA: dataFolder,
    PETGATE_ADMIN_TOKEN: ADMIN_TOKEN,
    PETGATE_INTERNAL_TOKEN: INTERNAL_TOKEN,
    PETGATE_CONFIG: writeConfig(dataFolder, options),
    ...options.environment,
  });
  t.teardown(async () => {
    await program.stop('SIGKILL');
    checkNoneFell(program);
  });
  const serving = await program.logged('serving');
  const { tls } = options;
  const url = `${tls === undefined ? 'http' : 'https'}://${String(serving['public'])}`;
  const port = Number(new URL(url).port);
  const adminUrl = `http://${String(serving['admin'])}`;
  const admin: Gateway['admin'] = async (method, path, body) => {
    const answer = await fetch(adminUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${ADMIN_TOKEN}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? null : (JSON.parse(text) as unknown) };
  };
  return {
    program,
    url,
    port,
    adminUrl,
    dataFolder,
    exchanges: () => program.lines().filter(({ msg }) => msg === 'exchange'),
    admin,
    target: tls === undefined ? port : { port, ca: tls.ca },
    createKey: async (fields) => {
      const make = (): ReturnType<Gateway['admin']> => admin('POST', '/admin/v1/keys', { name: 'test', ...fields });
      let made = await make();
      // On a busy machine Redis may be reached later than the gateway serves. One that was killed is not waited for.
      if (made.status === 503) await until('the store is there', async () => (made = await make()).status !== 503);
      const { status, body } = made;
      if (status !== 201) throw new Error(`no key: ${status} ${JSON.stringify(body)}`);
      return body as { id: string; key: string };
    },
  };
}

function writeConfig(dataFolder: string, { config = {}, plans, tls }: GatewayOptions): string {
  const folder = join(dataFolder, 'config');
  mkdirSync(folder, { recursive: true });
  let planFile = join(packageRoot, 'config/plans.yaml');
  if (plans !== undefined) {
    planFile = join(folder, 'plans.yaml');
    writeFileSync(planFile, stringify(plans, { aliasDuplicateObjects: false }));
  }
  const file = join(folder, 'gateway.yaml');
  writeFileSync(
    file,
    stringify({
      extends: join(packageRoot, 'config/gateway.yaml'),
      plans: planFile,
      ...(tls === undefined ? {} : { tls: { cert: tls.cert, key: tls.key } }),
      ...config,
    }),
  );
  return file;
}
