import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { parse } from 'yaml';
import { packageRoot } from '../../src/shared/package-root.js';
import { freePort } from '../servers/free-port.js';
import { temporaryFolder } from '../servers/program.js';
import { until } from '../servers/until.js';
import { readDockerfile, type Stage } from './dockerfile.js';

interface Service {
  readonly image: string;
  readonly build?: { readonly target: string };
  readonly ports?: readonly string[];
  readonly networks: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: unknown;
  readonly read_only?: boolean;
  readonly command?: readonly string[];
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const read = (name: string): string => readFileSync(join(packageRoot, name), 'utf8');
const stages = readDockerfile(read('Dockerfile'));
const compose = parse(read('compose.yaml'), { merge: true }) as Compose;
const TARGETS = ['gateway', 'pets'] as const;

t.test('both targets are there: Node 24, not root, one volume, health and command without a shell', (t) => {
  for (const name of TARGETS) {
    const stage = stages.get(name);
    t.match(stage, { user: 'node', volume: '/data' }, name);
    t.equal(stage?.env.get('PETGATE_DATA'), '/data');
    t.equal(stage?.command?.[0], 'node');
    t.equal(stage?.healthCheck?.[0], 'node');
  }
  t.match(stages.get('base')?.from, /^node:24(\.\d+)*-slim$/);
  t.notMatch(read('Dockerfile'), /npm (ci|install)(?!.*--ignore-scripts)/, 'no package runs a script');
  t.end();
});

t.test('everything that is copied is there, and not kept out', (t) => {
  const allowed = read('.dockerignore')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1));
  const wanted = new Set(
    [...stages.values()].flatMap(({ copies }) =>
      copies.filter(({ from }) => from === null).flatMap(({ sources }) => sources),
    ),
  );
  const isWithin = (path: string): boolean => allowed.some((folder) => path.startsWith(`${folder}/`));
  t.strictSame(
    [...wanted].filter((path) => !isWithin(path)).sort(),
    allowed.sort(),
    '.dockerignore lets in just what is copied',
  );
  for (const path of wanted) t.ok(existsSync(join(packageRoot, path)), path);
  for (const { copies } of stages.values()) {
    for (const { from, sources } of copies) {
      if (from === null) continue;
      t.ok(stages.has(from), `stage ${from}`);
      for (const source of sources) t.ok(existsSync(join(packageRoot, source.replace('/app/', ''))), source);
    }
  }
  t.end();
});

/** What a target's file system holds, as far as it is ours. */
function layOut(t: Test, stage: Stage): string {
  const root = join(temporaryFolder(t), 'app');
  mkdirSync(root);
  for (const { sources, target } of stage.copies) {
    for (const source of sources) {
      const from = join(packageRoot, source.replace('/app/', ''));
      const to = target === './' ? join(root, basename(source)) : join(root, target);
      mkdirSync(dirname(to), { recursive: true });
      if (source.endsWith('node_modules')) symlinkSync(from, to);
      else cpSync(from, to, { recursive: true });
    }
  }
  return root;
}

const contents = (folder: string): string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();

for (const name of TARGETS) {
  t.test(
    `${name}: what is copied is enough to run, the health check sees it, and nothing is written but data`,
    async (t) => {
      const stage = stages.get(name)!;
      const root = layOut(t, stage);
      const before = contents(root);
      const [publicPort, adminPort] = [String(await freePort()), String(await freePort())];
      const environment = {
        PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
        ...Object.fromEntries(stage.env),
        PETGATE_DATA: temporaryFolder(t),
        HOST: '127.0.0.1',
        PORT: publicPort,
        ADMIN_PORT: adminPort,
        PETS_HOST: '127.0.0.1',
        PETS_PORT: publicPort,
        PETGATE_INTERNAL_TOKEN: 'token-of-the-images',
      };
      const healthy = (): boolean => spawnSync('node', stage.healthCheck!.slice(1), { env: environment }).status === 0;
      t.notOk(healthy(), 'before it runs it is not healthy');

      const child = spawn('node', stage.command!.slice(1), {
        cwd: root,
        env: environment,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
      const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
      t.teardown(() => child.kill('SIGKILL'));
      await until('the health check passes', () => {
        if (child.exitCode !== null) throw new Error(output);
        return healthy();
      });
      child.kill('SIGTERM');
      t.equal(await exited, 0, 'SIGTERM ends it cleanly', { output });
      t.strictSame(contents(root), before, 'its own folder is as it was');
    },
  );
}

t.test('compose starts these targets with what they need, and shows nobody what is internal', (t) => {
  const { services, networks, volumes } = compose;
  const kubernetes = read('config/kubernetes/petgate.yaml');
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const [gateway, pets] = [services['gateway']!, services['pets']!];
  for (const [name, service] of Object.entries({ gateway, pets })) {
    t.equal(service.build?.target, name);
    t.equal(service.image, `petgate-${name}:${version}`);
    t.ok(kubernetes.includes(`image: ${service.image}\n`), 'Kubernetes runs the same image');
    t.equal(service.read_only, true);
    t.match(service.volumes[0], /:\/data$/);
  }
  t.match(gateway.environment, {
    PETS_URL: `http://pets:${stages.get('pets')?.exposed[0]}`,
    REDIS_URL: /^redis:\/\/:\$\{REDIS_PASSWORD:\?.*\}@redis:6379$/,
  });
  t.match(pets.environment?.['DATABASE_URL'], /@postgres:5432\/petgate$/);
  t.equal(
    gateway.environment?.['PETGATE_INTERNAL_TOKEN'],
    pets.environment?.['PETGATE_INTERNAL_TOKEN'],
    'both have one token',
  );
  t.ok(services['redis']?.command?.join(' ').includes('--appendonly yes'), 'Redis keeps the ledger');

  // What watches them is held to account in test/grafana/compose.test.ts.
  for (const [name, service] of Object.entries(services).filter(
    ([name]) => !['prometheus', 'grafana'].includes(name),
  )) {
    const network = name === 'redis' ? 'store' : 'back';
    if (name !== 'gateway')
      t.strictSame([service.ports, service.networks], [undefined, [network]], `${name} is internal`);
    t.ok(
      service.networks.every((network) => network in networks),
      `${name}: its networks exist`,
    );
    t.ok(
      service.volumes.every((volume) => volume.split(':')[0]! in volumes),
      `${name}: its volumes exist`,
    );
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      t.equal(condition, 'service_healthy');
      t.ok(
        services[other]?.healthcheck !== undefined || (stages.get(other)?.healthCheck ?? null) !== null,
        `${other} tells whether it is healthy`,
      );
    }
  }
  t.equal(networks['back']?.internal, true);
  t.strictSame(
    gateway.ports,
    ['8080:8080', '127.0.0.1:9090:9090'],
    'the public port, and the admin port for this machine alone',
  );
  t.end();
});
