import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { packageRoot } from '../../src/shared/package-root.js';
import { openRedisEngine } from '../../src/gateway/store/redis/engine.js';
import { keyRecord } from '../gateway/admission/key-record.js';
import { until } from '../servers/until.js';
import { redisFor } from '../servers/redis.js';
import { command } from './commands.js';
import { begin, dataFolder, surroundings } from './programs.js';

/**
 * What each misspelt variable means. Before it was refused, it meant an embedded store in production, or one worker.
 */
const MISSPELT = {
  REDIS_ULR: 'REDIS_URL',
  PETGATE_WORKER: 'PETGATE_WORKERS',
  PETGATE_CONFGI: 'PETGATE_CONFIG',
  PETGATE_EVENT_URL: 'PETGATE_EVENTS_URL',
};

t.test('gateway, pets, start and config check refuse a misspelt variable, and say which is meant', async (t) => {
  const env = surroundings(dataFolder(t), Object.fromEntries(Object.keys(MISSPELT).map((name) => [name, '2'])));
  for (const args of [['gateway'], ['pets'], ['start'], ['config', 'check']]) {
    const program = begin(t, args, env);
    const giveUp = setTimeout(() => program.child.kill('SIGKILL'), 10_000);
    t.equal(await program.ended, 1, `${args.join(' ')} ends: ${program.output()}`);
    clearTimeout(giveUp);
    for (const [name, meant] of Object.entries(MISSPELT))
      t.match(program.output(), `environment variable ${name}: not known; did you mean "${meant}"?`);
    t.notMatch(program.output(), '    at ');
  }
});

t.test('what Kubernetes says of Services beside is no mistake, and no port', async (t) => {
  const links = {
    PETGATE_GATEWAY_SERVICE_HOST: '10.0.0.1',
    PETGATE_GATEWAY_SERVICE_PORT_HTTP: '80',
    PETGATE_GATEWAY_PORT: 'tcp://10.0.0.1:80',
    PETGATE_GATEWAY_PORT_80_TCP_ADDR: '10.0.0.1',
    PETS_PORT: 'tcp://10.0.0.2:8081',
    ADMIN_PORT: 'tcp://10.0.0.3:9090',
  };
  t.match(await command(['config', 'check'], surroundings(dataFolder(t), links)), { code: 0, stderr: '' });
});

t.test('production without Redis has to be asked for', async (t) => {
  const folder = dataFolder(t);
  const check = async (more: string, env: NodeJS.ProcessEnv = {}): Promise<unknown> => {
    const file = join(folder, 'gateway.yaml');
    writeFileSync(file, `extends: ${join(packageRoot, 'config/production.yaml')}\n${more}`);
    return command(['config', 'check'], surroundings(folder, { PETGATE_CONFIG: file, ...env }));
  };
  const redis = { REDIS_URL: 'redis://127.0.0.1:1' };
  t.match(await check(''), { code: 1, stderr: /REDIS_URL.*store: \{ engine: embedded \}/ });
  t.match(await check('', redis), { code: 0 });
  t.match(await check('store: { engine: embedded }\n'), { code: 0 });
  t.match(await check('store: { engine: embedded }\n', redis), { code: 1, stderr: /engine: .*REDIS_URL/ });
  t.match(await check('store: { engine: redis }\n'), { code: 1, stderr: /REDIS_URL/ });
});

t.test('config check names the variable that is wrong, and refuses what the gateway would', async (t) => {
  const folder = dataFolder(t);
  const check = (env: NodeJS.ProcessEnv): ReturnType<typeof command> =>
    command(['config', 'check'], surroundings(folder, env));
  const wrong: readonly (readonly [NodeJS.ProcessEnv, RegExp])[] = [
    [{ REDIS_URL: 'redis://u:hunter2/w@h:1' }, /variable REDIS_URL: store\.redis: has a host that is not/],
    [{ REDIS_URL: 'redis://u:hunter2@h:1?x=1' }, /variable REDIS_URL: store\.redis: must look like.*percent-encode/],
    [{ REDIS_URL: 'redis+sentinel://h:1' }, /variable REDIS_URL: store\.redis: .*name of the master/],
    [{ REDIS_URL: 'redis://h:99999' }, /variable REDIS_URL: store\.redis: has a host/],
    [{ DATABASE_URL: 'mysql://u:hunter2@h/d' }, /DATABASE_URL must look like postgres/],
    [{ PETS_PORT: '80a' }, /PETS_PORT must be a number/],
    [{ PORT: '9090', ADMIN_PORT: '' }, /variable PORT: listen\.port: .*both on port 9090/],
    [{ PETGATE_TLS_CERT: '/tls.crt' }, /variable PETGATE_TLS_CERT: tls\.key: missing/],
    [{ PETGATE_EVENTS_ALLOW_LOCAL: 'true' }, /variable PETGATE_EVENTS_ALLOW_LOCAL: events\.url: missing/],
    [{ LOG_LEVEL: 'loud' }, /^error: environment variable LOG_LEVEL: log\.level: must be [^\n]*\n$/],
  ];
  for (const [env, expected] of wrong) {
    const refused = await check(env);
    t.match(refused, { code: 1, stdout: '', stderr: expected }, JSON.stringify(env));
    t.notMatch(refused.stderr, /hunter2|    at /);
  }
  const file = join(folder, 'gateway.yaml');
  writeFileSync(file, 'plans: plans.yaml\n');
  writeFileSync(join(folder, 'plans.yaml'), 'free: { limits: { minute: 6, day: 9 }, ban: { after: 30 } }\n');
  t.match(await check({ PETGATE_CONFIG: file }), { code: 1, stderr: /plans\.yaml:1:1: the plan anonymous is missing/ });
});

t.test('config check prints what would run, and --store asks the store', async (t) => {
  const folder = dataFolder(t);
  const redis = await redisFor(t);
  const env = surroundings(folder, {
    REDIS_URL: redis.url.replace('//', '//:hunter2@'),
    STORE_URL: 'http://store:1',
    PETGATE_EVENTS_URL: 'https://hooks.example.com/hunter2',
    PETGATE_EVENTS_SECRET: `whsec_${Buffer.alloc(32).toString('base64')}`,
  });
  const { code, stdout } = await command(['config', 'check'], env);
  t.equal(code, 0);
  for (const line of [
    /^environment +development$/m,
    /^store +redis:\/\/\*\*\*@127\.0\.0\.1:\d+; while it is unavailable decided here/m,
    /^archive +off$/m,
    /^public +http:\/\/0\.0\.0\.0:0$/m,
    /^admin +http:\/\/127\.0\.0\.1:0$/m,
    /^workers +1$/m,
    /^upstreams +pets: http:\/\/127\.0\.0\.1:8081; store: http:\/\/store:1$/m,
    /^plans +free, pro, business, enterprise, anonymous$/m,
    /^contract +.*openapi\.yaml, \d+ operations$/m,
    /^events +to https:\/\/hooks\.example\.com\/\*\*\*$/m,
  ])
    t.match(stdout, line);
  t.notMatch(stdout, 'hunter2');

  const asked = (more: NodeJS.ProcessEnv): ReturnType<typeof command> =>
    command(['config', 'check', '--store'], surroundings(folder, more));
  const url = { REDIS_URL: redis.url };
  t.match(await asked(url), { code: 0, stdout: /All stores respond/ });
  await redis.command('CONFIG', 'SET', 'maxmemory', '100mb');
  await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'volatile-lru');
  t.match(await asked(url), { code: 1, stderr: /maxmemory-policy is volatile-lru/ });
  t.equal(await redis.command('DBSIZE'), 0, 'and nothing was written');
  await redis.kill();
  t.match(await asked(url), { code: 1, stderr: /the store does not respond/ });
  t.match(await asked({}), { code: 0, stdout: /All stores respond/ }, 'the embedded one');
});

t.test(
  'config check --store names keys that the plans would not serve, and a PostgreSQL that can not be used',
  async (t) => {
    const folder = dataFolder(t);
    const redis = await redisFor(t);
    const engine = openRedisEngine({ url: redis.url, deadlineMs: 10_000, plans: new Map(), usageDays: 400 });
    const record = keyRecord('abcdefghijkl', { plan: 'golden' });
    await until('the key is there', async () => {
      await engine.keys.write(record, { atMs: 0, action: 'created', changed: {} });
      return true;
    });
    await engine.close();
    const asked = (more: NodeJS.ProcessEnv): ReturnType<typeof command> =>
      command(['config', 'check', '--store'], surroundings(folder, { REDIS_URL: redis.url, ...more }));
    const before = await redis.command('DBSIZE');
    t.match(await asked({}), { code: 1, stderr: /golden: the plan golden is gone.*: 1 key on it \(abcdefghijkl\)/ });
    const nobody = 'postgres://me:hunter2@127.0.0.1:1/x';
    const refused = await asked({ LEDGER_URL: nobody, DATABASE_URL: nobody });
    t.match(refused, { code: 1, stderr: /PostgreSQL at LEDGER_URL can't be used: .*ECONNREFUSED/ });
    t.match(refused.stderr, /PostgreSQL at DATABASE_URL can't be used/);
    t.notMatch(refused.stderr, 'hunter2');
    t.equal(await redis.command('DBSIZE'), before, 'and nothing was written');
  },
);
