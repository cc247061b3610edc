import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { stringify } from 'yaml';
import { scrape } from '../servers/exposition.js';
import { startGateway, type Gateway, type GatewayOptions } from '../servers/gateway.js';
import { redisFor, storeOf } from '../servers/redis.js';
import { until } from '../servers/until.js';
import { startUpstream } from '../servers/upstream.js';
import { configPart } from './config-part.js';

const BAN = { after: 5 };
const PLANS = {
  free: { limits: { minute: 1000, day: 10_000 }, ban: BAN },
  pro: { limits: { minute: 2000, day: 20_000 }, ban: BAN },
  own: { limits: 'custom', ban: BAN },
  anonymous: { limits: { minute: 100, day: 1000 }, ban: BAN },
};
type PlanFile = Readonly<Record<string, unknown>>;
const WITHOUT_PRO = { free: PLANS.free, own: PLANS.own, anonymous: PLANS.anonymous };

function writePlans(gateway: Gateway, plans: PlanFile): void {
  const path = join(gateway.dataFolder, 'config/plans.yaml');
  writeFileSync(`${path}.new`, stringify(plans, { aliasDuplicateObjects: false }));
  renameSync(`${path}.new`, path);
}

async function send(
  gateway: Gateway,
  key: string,
  method = 'GET',
): Promise<{ status: number; code: string; headers: Headers }> {
  const answer = await fetch(`${gateway.url}/v1/pets`, { method, headers: { authorization: `Bearer ${key}` } });
  const text = await answer.text();
  return {
    status: answer.status,
    headers: answer.headers,
    code: answer.ok ? '' : (JSON.parse(text) as { code: string }).code,
  };
}

const isOk = async (gateway: Gateway): Promise<number | undefined> =>
  (await scrape(gateway.adminUrl)).value('petgate_config_ok');

for (const engine of ['embedded', 'redis'] as const) {
  const start = async (t: Test, options: GatewayOptions = {}): Promise<Gateway> => {
    const upstream = await startUpstream(t);
    const store = await storeOf(t, engine);
    return startGateway(t, {
      plans: PLANS,
      ...options,
      environment: { PETS_URL: upstream.url, ...store, ...options.environment },
    });
  };

  t.test(`${engine}: an edit that takes a plan from somebody is refused, and names them`, async (t) => {
    const gateway = await start(t, { environment: { PETGATE_WORKERS: '2' } });
    const pro = await gateway.createKey({ plan: 'pro' });
    const gone = await gateway.createKey({ plan: 'pro' });
    await gateway.admin('DELETE', `/admin/v1/keys/${gone.id}`);
    const { body } = await gateway.admin('POST', '/admin/v1/customers', { name: 'Acme', plan: 'free' });
    const customer = (body as { id: string }).id;
    const own = await gateway.createKey({ plan: 'own', limits: { minute: 7, day: 100 } });
    const refusals: readonly (readonly [PlanFile, RegExp])[] = [
      [WITHOUT_PRO, new RegExp(`plan pro is gone.*: 1 key on it \\(${pro.id}\\)`)],
      [
        { ...PLANS, free: { ...PLANS.free, limits: 'custom' } },
        new RegExp(`custom now.*1 customer on it \\(${customer}\\)`),
      ],
      [{ ...PLANS, own: PLANS.free }, new RegExp(`limits of their own would.*1 key on it \\(${own.id}\\)`)],
      [
        { ...PLANS, own: { ...PLANS.own, operations: { createPet: { cost: 8 } } } },
        new RegExp(`costs more.*\\(${own.id}\\)`),
      ],
    ];
    for (const [plans, expected] of refusals) {
      writePlans(gateway, plans);
      await until(`${expected.source} is told`, async () => expected.test((await configPart(gateway)).detail));
      t.equal(await isOk(gateway), 0);
      for (const { key } of [pro, own]) t.equal((await send(gateway, key)).status, 200, 'the old settings stay');
      writePlans(gateway, PLANS);
      await until('the plans of before are taken over', async () => (await configPart(gateway)).ok);
    }
    // Without a name no key is made, whatever is said of the plan.
    const saidOfPro = async (): Promise<string> =>
      JSON.stringify((await gateway.admin('POST', '/admin/v1/keys', { plan: 'pro', name: '' })).body);
    writePlans(gateway, { ...PLANS, pro: { ...PLANS.pro, retired: true } });
    await until('a retired plan is nobody else', async () => /is retired/.test(await saidOfPro()));
    t.equal((await send(gateway, pro.key)).status, 200, 'and stays for those who have it');
    t.equal((await gateway.admin('PATCH', `/admin/v1/keys/${pro.id}`, { plan: 'pro', note: 'x' })).status, 200);
    await gateway.admin('DELETE', `/admin/v1/keys/${pro.id}`);
    writePlans(gateway, WITHOUT_PRO);
    await until('a plan that nobody has any more goes', async () => /there is no plan/.test(await saidOfPro()));
    t.ok((await configPart(gateway)).ok);
  });

  t.test(`${engine}: a start without a plan in use serves the others, and its keys get 503, uncounted`, async (t) => {
    const store = await storeOf(t, engine);
    const first = await start(t, { environment: store });
    const pro = await first.createKey({ plan: 'pro' });
    const free = await first.createKey({ plan: 'free' });
    await first.program.stop();
    const gateway = await start(t, { environment: store, plans: WITHOUT_PRO, dataFolder: first.dataFolder });
    await until('it is told', async () => (await isOk(gateway)) === 0);
    t.match((await configPart(gateway)).detail, new RegExp(`plan pro is gone.*${pro.id}`));
    t.equal((await gateway.admin('GET', '/readyz')).status, 200);
    t.equal((await send(gateway, free.key)).status, 200);
    for (let n = 0; n < 20; n += 1) t.match(await send(gateway, pro.key), { status: 503, code: 'plan_unavailable' });
    const stranger = await send(gateway, 'nonsense');
    t.equal(stranger.headers.get('x-ratelimit-remaining'), '99', 'nothing was charged to the address');
    const lines = gateway.program.lines().filter(({ code }) => code === 'plan_unavailable');
    t.equal(lines.length, 20);
    t.match(lines[0], { key: pro.id, counted: false, credential: 'no_plan' });
    await gateway.admin('PATCH', `/admin/v1/keys/${pro.id}`, { plan: 'free' });
    t.equal((await send(gateway, pro.key)).status, 200, 'no ban either');
    gateway.program.child.kill('SIGHUP');
    await until('all is well', async () => (await isOk(gateway)) === 1);
  });

  t.test(`${engine}: a request dearer than a limit of the key is told so, and promised nothing`, async (t) => {
    const store = await storeOf(t, engine);
    const first = await start(t, { environment: store });
    const own = await first.createKey({ plan: 'own', limits: { minute: 7, day: 100 } });
    await first.program.stop();
    const plans = { ...PLANS, own: { ...PLANS.own, operations: { createPet: { cost: 8 } } } };
    const gateway = await start(t, { environment: store, plans, dataFolder: first.dataFolder });
    await until('the start mentions it', async () =>
      /costs more than their own/.test((await configPart(gateway)).detail),
    );
    for (let n = 0; n < 20; n += 1) {
      const { status, code, headers } = await send(gateway, own.key, 'POST');
      t.same([status, code, headers.get('retry-after')], [403, 'cost_exceeds_limit', null]);
    }
    const listed = await send(gateway, own.key);
    t.same([listed.status, listed.headers.get('x-ratelimit-remaining')], [200, '6'], 'no ban, nothing charged');
  });
}

t.test('while the store is unavailable a reload that narrows waits, and is decided when it is back', async (t) => {
  const redis = await redisFor(t);
  const upstream = await startUpstream(t);
  const gateway = await startGateway(t, {
    plans: PLANS,
    environment: { PETS_URL: upstream.url, REDIS_URL: redis.url },
  });
  const pro = await gateway.createKey({ plan: 'pro' });
  redis.freeze();
  writePlans(gateway, WITHOUT_PRO);
  await until('it waits', async () => /wait until the store/.test((await configPart(gateway)).detail));
  redis.thaw();
  await until('it is refused', async () => /plan pro is gone.*1 key/.test((await configPart(gateway)).detail));
  t.equal((await send(gateway, pro.key)).status, 200);
});

t.test('a price for an operation that the contract does not have is a warning', async (t) => {
  const upstream = await startUpstream(t);
  const plans = { ...PLANS, free: { ...PLANS.free, operations: { createPte: { cost: 2 } } } };
  const gateway = await startGateway(t, { plans, environment: { PETS_URL: upstream.url } });
  const warning = await gateway.program.logged('plans name operations that the contract does not have');
  t.match(JSON.stringify(warning), /createPte.*did you mean .*createPet/);
});
