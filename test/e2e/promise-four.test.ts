import t from 'tap';
import type { Test } from 'tap';
import { codeOf } from '../answers/honest.js';
import { startGateway, type Gateway } from '../servers/gateway.js';
import { NO_BAN } from '../servers/plans.js';
import { startUpstream } from '../servers/upstream.js';
import { until } from '../servers/until.js';
import { openClient, type Client } from './client.js';
import { startPair } from './pair.js';

/** PETGATE_LONG=1 takes more. */
const KEY_COUNT = process.env['PETGATE_LONG'] === '1' ? 100 : 30;
const AT_ONCE = 15;
// Two tests of some 5 s each on an idle machine; tap would end the file after 30.
t.setTimeout(600_000);

/** As in config/plans.yaml, but 401s from one address are not what this is about. */
const PLANS = {
  free: { refill: 'interval', limits: { minute: 60, day: 1_000 }, ban: NO_BAN },
  pro: { refill: 'interval', limits: { minute: 300, day: 10_000 }, ban: NO_BAN },
  enterprise: { refill: 'interval', limits: 'custom', ban: NO_BAN },
  anonymous: { refill: 'interval', limits: { minute: 1_000_000, day: 10_000_000 }, ban: NO_BAN },
};

interface Answer {
  readonly status: number;
  readonly code: string;
  readonly limit: number;
}

async function ask(client: Client, key: string): Promise<Answer> {
  const answer = await client.send(key);
  const code = answer.status === 200 ? '' : codeOf(answer);
  return { status: answer.status, code, limit: Number(answer.headers.get('x-ratelimit-limit')) };
}

/** Everything that can happen to a key: what is sent to the admin API, and what the very next request must meet. */
const CHANGES: readonly (readonly [
  name: string,
  method: string,
  collection: string,
  body: unknown,
  expected: Partial<Answer>,
])[] = [
  ['disable', 'PATCH', 'keys', { status: 'disabled' }, { status: 401, code: 'invalid_api_key' }],
  ['enable', 'PATCH', 'keys', { status: 'enabled' }, { status: 200, limit: 60 }],
  ['plan change', 'PATCH', 'keys', { plan: 'pro' }, { status: 200, limit: 300 }],
  [
    'plan change to own limits',
    'PATCH',
    'keys',
    { plan: 'enterprise', limits: { minute: 77, day: 'unlimited' } },
    { status: 200, limit: 77 },
  ],
  ['own limits change', 'PATCH', 'keys', { limits: { minute: 99, day: 5_000 } }, { status: 200, limit: 99 }],
  ['scope taken', 'PATCH', 'keys', { scopes: ['pets:write'] }, { status: 403, code: 'insufficient_scope' }],
  ['scope given', 'PATCH', 'keys', { scopes: ['pets:read'] }, { status: 200 }],
  ['ban', 'PUT', 'bans', { for: '1h', reason: 'a test' }, { status: 429, code: 'key_banned' }],
  ['lift', 'DELETE', 'bans', undefined, { status: 200 }],
  [
    'a limit below what is spent',
    'PATCH',
    'keys',
    { limits: { minute: 1, day: 5_000 } },
    { status: 429, code: 'rate_limited' },
  ],
  ['and more again', 'PATCH', 'keys', { limits: { minute: 50, day: 5_000 } }, { status: 200, limit: 50 }],
];

interface Customer {
  readonly id: string;
  key: string;
}

/** Puts `customers` through `step`, some at a time; gives what went wrong. */
async function each(
  customers: readonly Customer[],
  step: (customer: Customer) => Promise<string | undefined>,
): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (let start = 0; start < customers.length; start += AT_ONCE) {
    const outcomes = await Promise.all(customers.slice(start, start + AT_ONCE).map(step));
    wrong.push(...outcomes.filter((outcome) => outcome !== undefined));
  }
  return wrong;
}

/** Gives the key an end that is near, but still ahead when the busy gateway reads it. Returns it, Unix time in ms. */
async function expireSoon(changer: Gateway, id: string): Promise<number> {
  for (let aheadMs = 250; ; aheadMs *= 2) {
    const expires = Date.now() + aheadMs;
    const { status, body } = await changer.admin('PATCH', `/admin/v1/keys/${id}`, { expires });
    if (status < 300) return expires;
    if (status !== 400 || aheadMs > 60_000) throw new Error(`${status} ${JSON.stringify(body)}`);
  }
}

/** Changes are made on `changer`; each of `clients`, on a connection that stays, meets them with its next request. */
async function follow(t: Test, changer: Gateway, clients: readonly Client[]): Promise<void> {
  const meets = async ({ id, key }: Customer, expected: Partial<Answer>): Promise<string | undefined> => {
    for (const client of clients) {
      const answer = await ask(client, key);
      const differs = Object.entries(expected).some(([name, value]) => answer[name as keyof Answer] !== value);
      if (differs) return `${id}: ${JSON.stringify(answer)} instead of ${JSON.stringify(expected)}`;
    }
    return undefined;
  };
  const admin = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const answer = await changer.admin(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
    return (answer.body ?? {}) as Record<string, unknown>;
  };

  const customers = await Promise.all(
    Array.from({ length: KEY_COUNT }, async () => ({ ...(await changer.createKey({ plan: 'free' })) })),
  );
  t.same(await each(customers, (customer) => meets(customer, { status: 200, limit: 60 })), [], 'create');
  for (const [name, method, collection, body, expected] of CHANGES) {
    const wrong = await each(customers, async (customer) => {
      await admin(method, `/admin/v1/${collection}/${customer.id}`, body);
      return meets(customer, expected);
    });
    t.same(wrong, [], `${name}: ${KEY_COUNT - wrong.length} of ${KEY_COUNT}`);
  }

  t.same(
    await each(customers, async (customer) => {
      const before = { ...customer };
      customer.key = String((await admin('POST', `/admin/v1/keys/${customer.id}/rotate`, { overlap: '0s' }))['key']);
      return (await meets(before, { status: 401 })) ?? meets(customer, { status: 200 });
    }),
    [],
    'rotation without overlap',
  );

  t.same(
    await each(customers, async (customer) => {
      const expires = await expireSoon(changer, customer.id);
      await until('the key has expired', () => Date.now() > expires);
      return meets(customer, { status: 401 });
    }),
    [],
    'expiry, by itself',
  );
  t.same(
    await each(customers, async (customer) => {
      await admin('PATCH', `/admin/v1/keys/${customer.id}`, { expires: null });
      return meets(customer, { status: 200 });
    }),
    [],
    'expiry taken back',
  );

  t.same(
    await each(customers, async (customer) => {
      await admin('DELETE', `/admin/v1/keys/${customer.id}`);
      return meets(customer, { status: 401, code: 'invalid_api_key' });
    }),
    [],
    'revoke',
  );
}

t.test('two gateways on one Redis: the very next request on B follows every change on A, of each key', async (t) => {
  const [a, b] = await startPair(t, PLANS);
  await follow(t, a, [openClient(t, b.url, AT_ONCE)]);
});

t.test(
  'two workers on the embedded store: the very next request on each follows every change, of each key',
  async (t) => {
    const upstream = await startUpstream(t);
    const gateway = await startGateway(t, {
      environment: { PETS_URL: upstream.url },
      plans: PLANS,
      config: { workers: 2 },
    });
    // Workers take new connections in turn, so that clients of one connection each reach both.
    const clients = [1, 2].map(() => openClient(t, gateway.url, 1));
    await follow(t, gateway, clients);
    const lines = gateway.exchanges();
    t.equal(new Set(lines.map(({ pid }) => pid)).size, 2, 'both workers were asked');
  },
);
