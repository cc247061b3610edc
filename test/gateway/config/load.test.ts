import { availableParallelism } from 'node:os';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { explainSettings } from '../../../src/gateway/config/explain.js';
import { loadInTurns, loadSettings, loadSources } from '../../../src/gateway/config/load.js';
import type { Settings } from '../../../src/gateway/config/schema/gateway.js';
import { packageRoot } from '../../../src/shared/package-root.js';

const plansPath = join(packageRoot, 'config/plans.yaml');

/** A folder with these files, and plans.yaml beside them unless given. */
function write(t: Test, files: Readonly<Record<string, string>>): string {
  const folder = t.testdir({});
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

const expectedDefaults: Omit<Settings, 'plans' | 'upstreams'> = {
  environment: 'development',
  listen: { host: '0.0.0.0', port: 8080, proxy_protocol: false },
  admin: { host: '127.0.0.1', port: 9090, hosts: [] },
  workers: 1,
  data: resolve('data'),
  contract: join(packageRoot, 'config/openapi.yaml'),
  overlays: [],
  own_paths: '/_petgate',
  similar_paths: 'refuse',
  metrics: { operations: 500 },
  store: {
    deadline: 450,
    usage: 400,
    archive_after: 40,
    final_after: 604_800_000,
    map_size: 16 * 2 ** 30,
    on_failure: 'local',
    gateways: 'auto',
    eviction: 'refuse',
    replicas: 'auto',
    replica_wait: 1_000,
  },
  limits: {
    header_size: 16_384,
    header_fields: 100,
    url_size: 8192,
    headers_time: 10_000,
    request_time: 30_000,
    keep_alive: 65_000,
    connections: 10_000,
    requests_per_connection: 10_000,
    exchanges: 1000,
    streams: 100,
    pipelined: 1000,
    waiting: 1000,
    bodies_size: 268_435_456,
    caller_share: 0.25,
    tunnels: 1000,
    tunnel_idle: 300_000,
    tunnel_lifetime: 3_600_000,
  },
  errors: 'petgate',
  trusted_proxies: [],
  realm: 'petgate',
  credentials: ['bearer'],
  keys: { accept_imported: false, holders_rotate: true },
  log: { level: 'info', access: true, sampled: 1 },
  drain: 0,
  shutdown: 10_000,
};
const expectedUpstream = {
  connections: 256,
  keep_alive: 4000,
  response_head: 16_384,
  response_fields: 256,
  connect: 1000,
  deadline: 15_000,
  idle: 60_000,
  lifetime: 3_600_000,
  resolve: 10_000,
  tls: { ca: null, cert: null, key: null },
  host: 'upstream',
  authorization: 'internal',
  forwarded: false,
  errors: 'replace',
  preflights: false,
  body_size: 1_048_576,
  breaker: { failures: 5, open: 1000, cap: 10_000 },
};
const expectedUpstreams = {
  pets: { addresses: ['http://127.0.0.1:8081'], ...expectedUpstream },
  store: { addresses: [], ...expectedUpstream },
};

t.test('gateway.yaml as shipped says the defaults', (t) => {
  const { plans, upstreams, ...rest } = loadSettings({});
  t.same(rest, expectedDefaults);
  t.same({ ...upstreams }, expectedUpstreams);
  t.same([...plans.keys()], ['free', 'pro', 'business', 'enterprise', 'anonymous']);
  t.end();
});

t.test('a file may leave anything out', (t) => {
  const folder = write(t, { 'bare.yaml': `plans: ${JSON.stringify(plansPath)}\n` });
  const { plans, upstreams, ...rest } = loadSettings({ PETGATE_CONFIG: join(folder, 'bare.yaml') });
  t.same(rest, expectedDefaults);
  t.same({ ...upstreams }, expectedUpstreams);
  t.equal(plans.size, 5);
  t.end();
});

t.test('the plans are those of the contract', (t) => {
  const { plans } = loadSettings({});
  const limits = Object.fromEntries([...plans].map(([name, plan]) => [name, plan.limits]));
  t.same(limits, {
    free: { minute: 60, day: 1000 },
    pro: { minute: 300, day: 10_000 },
    business: { minute: 1000, day: 100_000 },
    enterprise: 'custom',
    anonymous: { minute: 300, day: 10_000 },
  });
  t.same(plans.get('free'), {
    name: 'free',
    limits: { minute: 60, day: 1000 },
    refill: 'interval',
    ban: { after: 30, withinMs: 60_000, forMs: 300_000, factor: 2, capMs: 86_400_000 },
  });
  t.same(
    ['pro', 'business'].map((name) => plans.get(name)?.ban.after),
    [150, 500],
  );
  t.end();
});

t.test('production and staging load, and differ from development only where they say so', (t) => {
  for (const environment of ['production', 'staging'] as const) {
    const settings = loadSettings({ PETGATE_CONFIG: join(packageRoot, `config/${environment}.yaml`) });
    t.equal(settings.environment, environment);
    t.equal(settings.workers, availableParallelism());
    t.same(settings.limits, expectedDefaults.limits);
    t.equal(settings.plans.size, 5);
  }
  t.end();
});

t.test('the environment wins over the file', (t) => {
  const folder = write(t, {
    'gateway.yaml':
      `plans: ${JSON.stringify(plansPath)}\nlisten: { host: 10.0.0.1, port: 1000 }\nworkers: 3\nupstreams: { ` +
      `pets: { addresses: ['http://a:1'], deadline: 2s } }\n`,
  });
  const settings = loadSettings({
    PETGATE_CONFIG: join(folder, 'gateway.yaml'),
    PORT: '2000',
    ADMIN_HOST: '::1',
    ADMIN_PORT: '0',
    PETGATE_DATA: 'elsewhere',
    REDIS_URL: 'rediss+cluster://user:p@ss@h1:1,h2:2',
    PETS_URL: 'http://b:1, unix:/run/pets.sock',
    STORE_URL: 'http://[::1]:7',
    PETGATE_WORKERS: 'auto',
    LOG_LEVEL: 'warn',
  });
  t.match(settings, {
    listen: { host: '10.0.0.1', port: 2000 },
    admin: { host: '::1', port: 0 },
    workers: availableParallelism(),
    data: resolve('elsewhere'),
    store: { redis: 'rediss+cluster://user:p@ss@h1:1,h2:2' },
    upstreams: {
      pets: { addresses: ['http://b:1', 'unix:/run/pets.sock'], deadline: 2000 },
      store: { addresses: ['http://[::1]:7'] },
    },
    log: { level: 'warn', access: true, sampled: 1 },
  });
  t.end();
});

t.test('the data folder is ./data of the working directory, and never below node_modules', (t) => {
  t.equal(loadSettings({}).data, resolve('data'));
  const folder = '/srv/api/node_modules/petgate/data';
  t.throws(() => loadSettings({ PETGATE_DATA: folder }), {
    message: /PETGATE_DATA: data: .* is below node_modules, which npm replaces at every install\. Move it elsewhere/,
  });
  t.end();
});

t.test('Redis without an archive is told apart from one that is to have none', (t) => {
  const archiveOf = (environment: NodeJS.ProcessEnv): string | null | undefined =>
    loadSettings(environment).store.archive;
  const redis = { REDIS_URL: 'redis://127.0.0.1:1' };
  t.equal(archiveOf(redis), undefined);
  t.equal(archiveOf({ ...redis, LEDGER_URL: 'off' }), null);
  const url = 'postgres://127.0.0.1/ledger';
  t.equal(archiveOf({ ...redis, LEDGER_URL: url }), url);
  t.end();
});

t.test('an empty variable counts as not set', (t) => {
  t.same(loadSettings({ PORT: '', REDIS_URL: ' ', PETS_URL: '', PETGATE_CONFIG: '' }), loadSettings({}));
  t.end();
});

t.test('what extends wins, mapping by mapping; lists are taken whole; paths are relative to their file', (t) => {
  const folder = write(t, {
    'base.yaml':
      `plans: ${JSON.stringify(plansPath)}\ndata: here\ntrusted_proxies: [10.0.0.1, 10.0.0.2]\nlimits: { ` +
      'exchanges: 5, url_size: 1KiB }\n',
    'middle.yaml': 'extends: base.yaml\nlimits: { exchanges: 6 }\ntrusted_proxies: [10.0.0.3]\n',
    'top.yaml': 'extends: middle.yaml\nlimits: { headers_time: 2s }\n',
  });
  const settings = loadSettings({ PETGATE_CONFIG: join(folder, 'top.yaml') });
  t.match(settings.limits, { exchanges: 6, url_size: 1024, headers_time: 2000 });
  t.same(settings.trusted_proxies, ['10.0.0.3']);
  t.equal(settings.data, join(folder, 'here'));
  t.end();
});

t.test('a service may be called constructor, and no other name is one', (t) => {
  const folder = write(t, {
    'gateway.yaml': `plans: ${JSON.stringify(plansPath)}\nupstreams: { constructor: { addresses: ['http://a:1'] } }\n`,
  });
  const { upstreams } = loadSettings({ PETGATE_CONFIG: join(folder, 'gateway.yaml') });
  t.same(upstreams['constructor']?.addresses, ['http://a:1']);
  t.notOk('toString' in upstreams);
  t.end();
});

t.test('every setting tells who said it, and passwords stay unseen', (t) => {
  const folder = write(t, { 'gateway.yaml': `realm: zoo\nplans: ${JSON.stringify(plansPath)}\n` });
  const file = join(folder, 'gateway.yaml');
  const rows = explainSettings({
    PETGATE_CONFIG: file,
    PORT: '81',
    REDIS_URL: 'redis://user:se%2Fs%40me@host:6379/0',
  });
  const row = (path: string): unknown => rows.find((row) => row.path === path);
  t.match(row('realm'), { value: 'zoo', source: /gateway\.yaml:1$/ });
  t.same(row('listen.port'), { path: 'listen.port', value: 81, source: 'environment variable PORT' });
  t.same(row('listen.host'), { path: 'listen.host', value: '0.0.0.0', source: 'default' });
  t.same(row('upstreams.pets.addresses'), {
    path: 'upstreams.pets.addresses',
    value: ['http://127.0.0.1:8081'],
    source: 'default',
  });
  t.same(row('store.redis'), {
    path: 'store.redis',
    value: 'redis://***@host:6379/0',
    source: 'environment variable REDIS_URL',
  });
  t.match(row('data'), { value: resolve('data'), source: 'default' });
  t.match(row('plans.free.limits.minute'), { value: 60, source: /plans\.yaml:\d+$/ });
  t.end();
});

t.test('a gateway that serves reads them in steps, other work between', async (t) => {
  let turns = 0;
  let isDone = false;
  const other = (): void => {
    turns += 1;
    if (!isDone) setImmediate(other);
  };
  setImmediate(other);
  const { settings } = await loadInTurns({}, 'wanted');
  isDone = true;
  t.strictSame(settings, loadSources({}).settings);
  t.ok(turns >= 4, `the event loop had ${turns} turns meanwhile`);
});
