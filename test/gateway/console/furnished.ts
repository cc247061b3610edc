import { join } from 'node:path';
import { KeyRegistry } from '../../../src/gateway/accounts/keys/registry.js';
import type { Plan } from '../../../src/gateway/admission/plan.js';
import { openEmbeddedEngine } from '../../../src/gateway/store/embedded/engine.js';
import type { StoredRow } from '../../../src/gateway/store/records/counts.js';
import { DAY_MS, dayOf } from '../../../src/shared/utc-day.js';
import { startGateway, type Gateway } from '../../servers/gateway.js';
import { temporaryFolder, type Teardown } from '../../servers/program.js';
import { startUpstream } from '../../servers/upstream.js';
import { BAN } from '../admission/ban.js';
import { startBan } from '../../conformance/cast.js';

const DAYS = 45;
const PLAN_FILE = {
  free: {
    limits: { minute: 60, day: 1000 },
    ban: { after: 30 },
    price: { monthly: 0, included: 31_000, currency: 'EUR' },
  },
  pro: {
    limits: { minute: 300, day: 10_000 },
    ban: { after: 150 },
    price: { monthly: 4900, included: 30_000, per_unit: 1, currency: 'EUR' },
  },
  business: {
    limits: { minute: 1000, day: 100_000 },
    ban: { after: 500 },
    price: { monthly: 19_900, included: 200_000, per_unit: 1, currency: 'EUR' },
  },
  anonymous: { limits: { minute: 300, day: 10_000 }, ban: { after: 30 } },
};
const PLANS = new Map(
  ['free', 'pro', 'business', 'anonymous'].map((name): [string, Plan] => [
    name,
    { name, limits: { minute: 300, day: 10_000 }, refill: 'interval', ban: BAN },
  ]),
);
/** Of each customer: name, plan, keys, and about how many units they use a day. */
const CUSTOMERS = [
  ['Corner Shop', 'pro', ['web shop', 'price list'], 700],
  ['Paws & Co', 'business', ['app', 'partner feed', 'night batch'], 3000],
  ['Zoo of the North', 'pro', ['visitor guide'], 350],
] as const;

/** A gateway after some weeks of use, and what is of interest in it. */
export interface Furnished {
  readonly gateway: Gateway;
  /** Of a customer's key that reached its limit: id, and itself. */
  readonly key: string;
  readonly token: string;
  readonly customer: string;
  /** The id of its request that was refused. */
  readonly refused: string;
  /** Some requests of several clients, most of them good. */
  readonly traffic: () => Promise<void>;
}

/** For people to look at. */
export async function startFurnished(t: Teardown): Promise<Furnished> {
  const dataFolder = temporaryFolder(t);
  const { key, token, customer, busy } = await furnish(join(dataFolder, 'admission'));
  const upstream = await startUpstream(t);
  const gateway = await startGateway(t, { dataFolder, plans: PLAN_FILE, environment: { PETS_URL: upstream.url } });
  const ask = (path: string, by: string): Promise<Response> =>
    fetch(gateway.url + path, { headers: { authorization: `Bearer ${by}` } });
  const traffic = async (): Promise<void> => {
    for (let n = 0; n < 20; n += 1)
      await Promise.all([...Array.from({ length: 9 }, () => ask('/v1/pets', busy)), ask('/v1/pets', token)]);
    await Promise.all([ask('/v1/nothing', busy), ask('/v1/pets', 'nonsense')]);
  };
  return { gateway, key, token, customer, refused: await useUp(gateway, token), traffic };
}

async function furnish(
  folder: string,
): Promise<Pick<Furnished, 'key' | 'token' | 'customer'> & { readonly busy: string }> {
  const engine = openEmbeddedEngine({ folder, plans: PLANS, usageDays: 400, mapBytes: 64 * 2 ** 20 });
  let nowMs = Date.now() - DAYS * DAY_MS;
  const registry = new KeyRegistry({
    ...{ engine, plans: () => PLANS, scopes: ['pets:read', 'pets:write'], costs: new Map() },
    ...{ environment: 'development', acceptImported: false, clock: () => Promise.resolve(nowMs) },
  });
  const made = [];
  for (const [n, [name, plan, keys, units]] of CUSTOMERS.entries()) {
    nowMs += DAY_MS;
    const { id } = await registry.customers.create({ name, plan, reference: `C-10${42 + n}` }, 'zoe');
    for (const each of keys)
      made.push({ ...(await registry.create({ customer: id, name: each }, 'zoe')), plan, units });
  }
  const lone = await registry.create({ plan: 'free', name: 'Trial of Ann' }, 'zoe');
  made.push({ ...lone, plan: 'free', units: 120 });
  const [first] = made;
  const { id: key } = first!.record;
  const customer = key.slice(0, 8);
  await engine.transfer.raise(made.flatMap(({ record, plan, units }, n) => ledgerOf(record.id, plan, units, n)));
  nowMs = Date.now() - 3 * DAY_MS;
  const correction = { day: dayOf(nowMs), units: -250, reason: 'outage of that morning' };
  await registry.customers.correct(customer, correction, 'Billing run');
  await registry.change(key, { note: 'asked for by phone' }, 'zoe');
  await startBan(engine, lone.record.id, Date.now() + DAY_MS / 4, { reason: 'went on after 429', actor: 'zoe' });
  await engine.close();
  return { key, token: first!.token, customer, busy: made[2]!.token };
}

/** More on some days than on others, and less at weekends. */
function ledgerOf(key: string, plan: string, units: number, n: number): readonly StoredRow[] {
  return Array.from({ length: DAYS - 5 }, (_, ago) => {
    const atMs = Date.now() - (ago + 1) * DAY_MS;
    const isWeekend = [0, 6].includes(new Date(atMs).getUTCDay());
    const count = Math.round(units * (isWeekend ? 0.4 : 1) * (1 + 0.3 * Math.sin((ago + 3 * n) / 2.3)));
    const refused = ago % 6 === n % 6 ? Math.round(count / 25) : 0;
    const row = { key, plan, day: dayOf(atMs), banned: 0 };
    const written = Math.round(count / 9);
    return [
      {
        ...row,
        operation: 'listPets',
        requests: count,
        units: count,
        returned: 0,
        limited: refused,
        failed: ago % 7 === 0 ? 2 : 0,
      },
      { ...row, operation: 'createPet', requests: written, units: written, returned: 0, limited: 0, failed: 0 },
    ];
  }).flat();
}

/** What a client did just now: it went on beyond its limit, and asked for what is not there. */
async function useUp({ url }: Gateway, token: string): Promise<string> {
  const ask = (path: string, headers = {}) =>
    fetch(url + path, { headers: { authorization: `Bearer ${token}`, ...headers } });
  await ask('/v1/nothing');
  await fetch(`${url}/v1/pets`);
  for (let n = 0; n < 60; n += 1) await Promise.all(Array.from({ length: 5 }, () => ask('/v1/pets?limit=20')));
  const refused = await ask('/v1/pets', { 'x-request-id': '7Qm4kZ2xW9' });
  if (refused.status !== 429) throw new Error(`answered ${refused.status}`);
  return refused.headers.get('x-request-id')!;
}
