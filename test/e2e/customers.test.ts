import t from 'tap';
import type { Test } from 'tap';
import { codeOf } from '../answers/honest.js';
import { NO_BAN } from '../servers/plans.js';
import { redisFor } from '../servers/redis.js';
import { until } from '../servers/until.js';
import { createCustomer, report, type Customer, type Row } from './customer.js';
import { logged, openFront, REQUESTS, volley, type Front, type Spent } from './volley.js';

const KEYS = 10;
/** PETGATE_LONG=1 takes more. */
const REPETITIONS = process.env['PETGATE_LONG'] === '1' ? 3 : 1;
const dear = { listPets: { cost: 7 } };
const roomy = { minute: 100_000, day: 100_000 };
const PLANS = {
  free: { limits: { minute: 60, day: 1_000 }, ban: NO_BAN },
  dear: { limits: { minute: 60, day: 1_000 }, ban: NO_BAN, operations: dear },
  monthly: { limits: { ...roomy, month: 60 }, ban: NO_BAN },
  'dear-month': { limits: { minute: 60, day: 1_000, month: 60 }, ban: NO_BAN, operations: dear },
  strict: { limits: { minute: 2, day: 1_000 }, ban: { after: 3 } },
  anonymous: { limits: { minute: 300, day: 10_000 }, ban: NO_BAN },
};
/** What 60 units buy on each plan, and what they are. */
const BOUGHT: Readonly<Record<string, readonly [admitted: number, units: number]>> = {
  free: [60, 60],
  dear: [8, 56],
  monthly: [60, 60],
  'dear-month': [8, 56],
};

function sumOf(rows: readonly Spent[]): string {
  const sum = (field: 'requests' | 'units'): number => rows.reduce((total, row) => total + row[field], 0);
  return `${sum('requests')} of ${sum('units')} units`;
}

/** Both reports, made once for all customers: each is a process of low priority. */
interface Reports {
  readonly customers: readonly Row[];
  readonly keys: readonly Row[];
}

async function reportsOf({ gateways }: Front): Promise<Reports> {
  const last = gateways.at(-1)!;
  return { customers: await report(last, 'customer'), keys: await report(last, 'key') };
}

/** What the bill says of a customer, what its keys add up to, and what the access logs of all gateways say. */
async function accountsOf(front: Front, reports: Reports, { id, reference }: Customer): Promise<string> {
  const bill = reports.customers.filter(({ customer }) => customer === id);
  const keys = reports.keys.filter(({ key }) => key?.startsWith(id));
  const billed = bill.reduce((sum, { requests }) => sum + requests, 0);
  await until('the access log has all', () => logged(front, id).requests >= billed);
  const names = bill.map((row) => row.reference).join();
  return (
    `bill ${names === reference ? '' : `of ${names} `}${sumOf(bill)}, keys ${sumOf(keys)}, access log ` +
    sumOf([logged(front, id)])
  );
}

/** All requests at once, each key at every gateway. */
async function fire({ gateways, clients }: Front, plan: string): Promise<{ customer: Customer; answers: string }> {
  const { made, answers } = await volley(
    () => createCustomer(gateways[0]!, plan, KEYS),
    ({ keys }, n) => clients[Math.floor(n / KEYS) % clients.length]!.send(keys[n % KEYS]!.key),
  );
  const count = (wanted: number): number => answers.filter(({ status }) => status === wanted).length;
  return { customer: made, answers: `${count(200)} × 200, ${count(429)} × 429` };
}

async function prove(t: Test, front: Front): Promise<void> {
  const done: { customer: Customer; answers: string; wanted: string; name: string }[] = [];
  for (const [plan, [admitted, units]] of Object.entries(BOUGHT)) {
    const all = `${admitted} of ${units} units`;
    const wanted = `${admitted} × 200, ${REQUESTS - admitted} × 429, bill ${all}, keys ${all}, access log ${all}`;
    for (let repetition = 1; repetition <= REPETITIONS; repetition += 1)
      done.push({ ...(await fire(front, plan)), wanted, name: `${plan}, repetition ${repetition}` });
  }
  const reports = await reportsOf(front);
  for (const { customer, answers, wanted, name } of done)
    t.equal(`${answers}, ${await accountsOf(front, reports, customer)}`, wanted, name);
}

t.test(`${REQUESTS} at once on ${KEYS} keys of a customer, on four gateways: what 60 units pay for`, async (t) => {
  const redis = await redisFor(t);
  await prove(t, await openFront(t, 4, PLANS, { REDIS_URL: redis.url }));
});

t.test('two workers on the embedded engine do as well', async (t) => {
  await prove(t, await openFront(t, 1, PLANS, { PETGATE_WORKERS: '2' }));
});

t.test('a key in a loop is banned alone; an operator bans all; own usage is of the key', async (t) => {
  const { gateways, clients } = await openFront(t, 1, PLANS, {});
  const [gateway, client] = [gateways[0]!, clients[0]!];
  const { id, keys } = await createCustomer(gateway, 'strict', 2);
  const [loop, calm] = keys.map(({ key }) => key) as [string, string];
  const codes = async (key: string, times: number): Promise<string[]> => {
    const told: string[] = [];
    for (let n = 0; n < times; n += 1) {
      const answer = await client.send(key);
      told.push(answer.status === 200 ? '200' : codeOf(answer));
    }
    return told;
  };
  t.same(await codes(loop, 5), ['200', '200', 'rate_limited', 'rate_limited', 'key_banned']);
  t.same(await codes(calm, 2), ['rate_limited', 'rate_limited'], 'its sibling finds the minute spent, and no ban');
  const usage = async (key: string): Promise<unknown> =>
    JSON.parse((await client.send(key, { path: '/v1/usage' })).body) as unknown;
  t.match(await usage(loop), {
    customer: id,
    plan: 'strict',
    today: { requests: 2, limited: 2, banned: 1 },
    ban: { level: 1 },
  });
  t.match(await usage(calm), {
    customer: id,
    windows: { minute: { limit: 2, remaining: 0 } },
    today: { requests: 0, limited: 2 },
    ban: null,
  });
  const path = `/admin/v1/customers/${id}`;
  t.equal((await gateway.admin('PUT', `${path}/bans`, { for: '1h' })).status, 200);
  t.same(await codes(calm, 1), ['key_banned']);
  t.equal((await gateway.admin('DELETE', `${path}/bans`)).status, 204);
  t.equal((await gateway.admin('PATCH', path, { plan: 'free' })).status, 200);
  for (const key of [loop, calm]) t.same(await codes(key, 1), ['200'], 'on the next request of each');
  t.equal((await gateway.admin('DELETE', path)).status, 204);
  for (const key of [loop, calm]) t.same(await codes(key, 1), ['invalid_api_key'], 'closed');
});
