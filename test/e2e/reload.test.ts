import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Pool } from 'undici';
import { stringify } from 'yaml';
import { startGateway, type Gateway } from '../servers/gateway.js';
import { NO_BAN } from '../servers/plans.js';
import { temporaryFolder } from '../servers/program.js';
import { redisFor } from '../servers/redis.js';
import { until } from '../servers/until.js';
import { startUpstream } from '../servers/upstream.js';
import { configPart } from './config-part.js';

/** Reloads, while so many requests are sent: PETGATE_LONG=1 takes more. */
const { RELOADS, REQUESTS } =
  process.env['PETGATE_LONG'] === '1' ? { RELOADS: 200, REQUESTS: 20_000 } : { RELOADS: 80, REQUESTS: 8_000 };

const plansWith = (minute: number): Readonly<Record<string, unknown>> => ({
  free: { limits: { minute, day: 1_000_000 }, ban: NO_BAN },
  anonymous: { limits: { minute: 1000, day: 1000 }, ban: NO_BAN },
});
const textOf = (minute: number): string => stringify(plansWith(minute), { aliasDuplicateObjects: false });

/** Replaces a file in one step, as careful editors do. */
function replaceFile(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

async function limitOf(gateway: Gateway, key: string): Promise<number> {
  const answer = await fetch(`${gateway.url}/v1/pets`, { headers: { authorization: `Bearer ${key}` } });
  await answer.arrayBuffer();
  return Number(answer.headers.get('x-ratelimit-limit'));
}

for (const workers of ['1', '2']) {
  t.test(
    `a changed plan holds at once, a bad file is refused and told of, the old one stays (workers: ${workers})`,
    async (t) => {
      const upstream = await startUpstream(t);
      const gateway = await startGateway(t, {
        plans: plansWith(1000),
        environment: { PETS_URL: upstream.url, PETGATE_WORKERS: workers },
      });
      const plans = join(gateway.dataFolder, 'config/plans.yaml');
      const { key } = await gateway.createKey({ plan: 'free' });
      t.equal(await limitOf(gateway, key), 1000);
      const settled = async (limit: number): Promise<boolean> =>
        (await Promise.all(Array.from({ length: 8 }, () => limitOf(gateway, key)))).every((found) => found === limit);

      replaceFile(plans, textOf(2000));
      await until('the new plan holds', () => settled(2000));
      writeFileSync(plans, textOf(2500));
      await until('a file written in place holds too', () => settled(2500));

      replaceFile(plans, 'free: { limits: { minute: many } }\n');
      await until('the bad file is notified of', async () => !(await configPart(gateway)).ok);
      t.match((await configPart(gateway)).detail, /plans\.yaml:1.*minute/, 'with file and line');
      t.equal((await gateway.admin('GET', '/readyz')).status, 200, 'the gateway stays in service');
      t.ok(await settled(2500), 'the old plan stays');
      t.match(await (await fetch(`${gateway.adminUrl}/metrics`)).text(), /^petgate_config_ok 0$/m);
      t.ok(
        gateway.program.lines().some(({ level, msg }) => level === 'error' && /refused/.test(String(msg))),
        'and in the log',
      );

      replaceFile(plans, textOf(3000));
      await until('the mended file holds', () => settled(3000));
      t.ok((await configPart(gateway)).ok);
      t.match(await (await fetch(`${gateway.adminUrl}/metrics`)).text(), /^petgate_config_ok 1$/m);
    },
  );
}

t.test('plans that Redis refuses to load, or is not there to load, are no settings reloaded', async (t) => {
  const upstream = await startUpstream(t);
  const redis = await redisFor(t);
  const gateway = await startGateway(t, {
    plans: plansWith(1000),
    environment: { PETS_URL: upstream.url, REDIS_URL: redis.url },
  });
  const plans = join(gateway.dataFolder, 'config/plans.yaml');
  const { key } = await gateway.createKey({ plan: 'free' });
  const reloaded = (): number => gateway.program.lines().filter(({ msg }) => msg === 'settings reloaded').length;
  t.equal(await limitOf(gateway, key), 1000);

  // Each script is sent once; a check that went well has sent its own.
  await until('it is ready', async () => (await gateway.admin('GET', '/readyz')).status === 200);
  await redis.command('ACL', 'SETUSER', 'default', '-eval');
  replaceFile(plans, textOf(2000));
  await until('it is notified of', async () => !(await configPart(gateway)).ok);
  t.match((await configPart(gateway)).detail, /plans\.yaml: Redis refuses the admission script of these plans: NOPERM/);
  t.match(await (await fetch(`${gateway.adminUrl}/metrics`)).text(), /^petgate_config_ok 0$/m);
  const { status, body } = await gateway.admin('GET', '/readyz');
  t.equal(status, 200, 'it stays in service', { body });
  t.equal(await limitOf(gateway, key), 1000, 'the plans before hold, and Redis decides by them');
  t.equal(reloaded(), 0);

  await redis.command('ACL', 'SETUSER', 'default', '+eval');
  redis.freeze();
  replaceFile(plans, textOf(3000));
  await until('it is said what is waited for', async () =>
    (await configPart(gateway)).detail.includes('wait until the store has been asked'),
  );
  t.equal(reloaded(), 0);
  redis.thaw();
  await until('with Redis back they hold', async () => (await configPart(gateway)).ok);
  await until('for every request', async () => (await limitOf(gateway, key)) === 3000);
  t.equal(reloaded(), 1);
});

t.test('a folder whose link is swapped, as Kubernetes does with a ConfigMap, is followed', async (t) => {
  const upstream = await startUpstream(t);
  const folder = temporaryFolder(t);
  const version = (name: string, minute: number): void => {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'plans.yaml'), textOf(minute));
    symlinkSync(name, join(folder, '..data.new'));
    renameSync(join(folder, '..data.new'), join(folder, '..data'));
  };
  version('v1', 1000);
  symlinkSync('..data/plans.yaml', join(folder, 'plans.yaml'));
  const gateway = await startGateway(t, {
    config: { plans: join(folder, 'plans.yaml') },
    environment: { PETS_URL: upstream.url },
  });
  const { key } = await gateway.createKey({ plan: 'free' });
  version('v2', 2000);
  await until('the swapped file holds', async () => (await limitOf(gateway, key)) === 2000);
});

t.test(`${RELOADS} reloads during ${REQUESTS} requests: none fails`, async (t) => {
  const upstream = await startUpstream(t);
  const gateway = await startGateway(t, {
    plans: plansWith(100_000),
    // One key sends everything, to few connections.
    config: { log: { access: false }, limits: { caller_share: 1 } },
    environment: { PETS_URL: upstream.url },
  });
  const config = join(gateway.dataFolder, 'config/gateway.yaml');
  const base = { extends: '', plans: join(gateway.dataFolder, 'config/plans.yaml') };
  base.extends = /extends: (.*)/.exec(readFileSync(config, 'utf8'))![1]!;
  const { key } = await gateway.createKey({ plan: 'free' });
  const client = new Pool(gateway.url, { connections: 16 });
  t.teardown(() => client.destroy());
  let sent = 0;
  const statuses = new Map<number, number>();
  const send = async (): Promise<void> => {
    while (sent < REQUESTS) {
      sent += 1;
      const { statusCode, body } = await client.request({
        method: 'GET',
        path: '/v1/pets',
        headers: { authorization: `Bearer ${key}` },
      });
      await body.dump();
      statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
    }
  };
  const change = async (): Promise<void> => {
    for (let round = 1; round <= RELOADS; round += 1) {
      // The upstream's settings change each time, so that its pool is replaced under load.
      replaceFile(
        config,
        stringify({
          ...base,
          log: { access: false },
          limits: { caller_share: 1 },
          upstreams: { pets: { connections: 8 + (round % 8) } },
        }),
      );
      replaceFile(base.plans, textOf(100_000 + round));
      gateway.program.child.kill('SIGHUP');
      await until(`reload ${round} holds`, async () => (await limitOf(gateway, key)) === 100_000 + round);
    }
  };
  await Promise.all([change(), ...Array.from({ length: 16 }, send)]);
  t.strictSame([...statuses], [[200, REQUESTS]]);
  t.ok(
    gateway.program.lines().filter(({ msg }) => msg === 'settings reloaded').length >= RELOADS,
    'there were as many reloads',
  );
});
