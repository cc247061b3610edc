import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { GITHUB, NO_GITHUB } from '../../servers/github.js';
import { until } from '../../servers/until.js';
import { WATCH_TURNS } from '../turns.js';
import { PLANS, type BenchKey, type KeyKind } from './keys.js';
import type { Place, Started } from './subject.js';

const ADMIN_TOKEN = 'admin-token-of-the-bench';
const IMPORT_LINES = 5_000;

interface PetgateOptions {
  /** One line per exchange, into a file. */
  readonly accessLog?: boolean;
  readonly withRedis?: boolean;
  /** In front of GitHub's document instead of the animal store's. */
  readonly withGithub?: boolean;
  /** In front of operations whose cost the response says. */
  readonly withHolds?: boolean;
}

/** The same response from each path: its cost is fixed, or in a header, or in its JSON. */
const HOLDS = {
  openapi: '3.0.3',
  paths: {
    '/fixed': { get: { operationId: 'fixed' } },
    '/header': {
      get: { operationId: 'header', 'x-petgate': { cost: { hold: 40, from: { header: 'X-Usage-Units' } } } },
    },
    '/json': {
      get: { operationId: 'json', 'x-petgate': { cost: { hold: 40, from: { json: '/usage/total_tokens' } } } },
    },
  },
};

export interface Petgate extends Started {
  register(keys: readonly BenchKey[], kind: KeyKind): Promise<void>;
}

/** A real gateway, all features on. It ends with this process. */
export async function startPetgate(
  place: Place,
  { accessLog = false, withRedis = false, withGithub = false, withHolds = false }: PetgateOptions,
): Promise<Petgate> {
  const { folder, root, redis, tls, upstream } = place;
  if (withGithub && NO_GITHUB !== false) throw new Error(NO_GITHUB);
  mkdirSync(folder, { recursive: true });
  const configFile = join(folder, 'gateway.yaml');
  const holdsFile = join(folder, 'holds.json');
  writeFileSync(holdsFile, JSON.stringify(HOLDS));
  const { roomy, tight, banned, counted, anonymous } = PLANS;
  // A hold fits into no small limit, and builds before holds know no limit of requests in flight.
  const plans = withHolds ? { roomy, counted, anonymous } : { roomy, tight, banned, anonymous };
  writeFileSync(join(folder, 'plans.yaml'), stringify(plans, { aliasDuplicateObjects: false }));
  writeFileSync(
    configFile,
    stringify({
      extends: join(root, 'config/gateway.yaml'),
      plans: 'plans.yaml',
      log: { access: accessLog },
      // A busy machine is no outage.
      store: { deadline: '5s' },
      ...(withGithub ? { contract: GITHUB } : {}),
      ...(withHolds ? { contract: holdsFile } : {}),
      upstreams: {
        [withGithub || withHolds ? 'default' : 'pets']: {
          addresses: [upstream.url],
          connections: 1024,
          ...(upstream.ca === undefined ? {} : { ca: upstream.ca }),
        },
      },
      ...(tls === undefined ? {} : { tls: { cert: tls.cert, key: tls.key } }),
    }),
  );
  const logFile = join(folder, 'log');
  const log = openSync(logFile, 'w');
  const child = spawn(process.execPath, [join(root, 'dist/program/main.js'), 'gateway'], {
    env: {
      PATH: process.env['PATH'],
      ...WATCH_TURNS,
      HOST: '127.0.0.1',
      PORT: '0',
      ADMIN_PORT: '0',
      PETGATE_CONFIG: configFile,
      PETGATE_DATA: join(folder, 'data'),
      PETGATE_ADMIN_TOKEN: ADMIN_TOKEN,
      PETGATE_INTERNAL_TOKEN: 'internal-token-of-the-bench',
      ...(withRedis ? { REDIS_URL: redis.url } : {}),
    },
    // The channel lets the gateway end with this process, however that goes.
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  const serving = await servingLine(logFile, () => child.exitCode !== null);
  return {
    child,
    port: Number(serving.public.split(':')[1]),
    register: (keys, kind) => importKeys(serving.admin, keys, kind),
  };
}

async function servingLine(logFile: string, hasEnded: () => boolean): Promise<{ public: string; admin: string }> {
  let line: string | undefined;
  await until(
    'the gateway serves',
    () => {
      line = readFileSync(logFile, 'utf8')
        .split('\n')
        .find((text) => text.includes('"msg":"serving"'));
      return line !== undefined || hasEnded();
    },
    20_000,
  );
  if (line === undefined) throw new Error(`the gateway ended: ${readFileSync(logFile, 'utf8')}`);
  return JSON.parse(line) as { public: string; admin: string };
}

async function importKeys(admin: string, keys: readonly BenchKey[], kind: KeyKind): Promise<void> {
  for (let from = 0; from < keys.length; from += IMPORT_LINES) {
    const lines = keys
      .slice(from, from + IMPORT_LINES)
      .map(({ id, hash }) => JSON.stringify({ id, hash, plan: kind, name: 'bench' }));
    const answer = await fetch(`http://${admin}/admin/v1/keys/import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/x-ndjson' },
      body: lines.join('\n'),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`keys could not be imported: ${answer.status} ${text}`);
  }
}
