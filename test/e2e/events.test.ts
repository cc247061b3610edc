import t from 'tap';
import type { Test } from 'tap';
import { scrape } from '../servers/exposition.js';
import { startGateway } from '../servers/gateway.js';
import type { Gateway } from '../servers/gateway.js';
import { temporaryFolder } from '../servers/program.js';
import { goodSignatures, startReceiver } from '../servers/receiver.js';
import type { Answering, Received } from '../servers/receiver.js';
import { startRedis } from '../servers/redis.js';
import { until } from '../servers/until.js';

/** How often a gateway is killed: PETGATE_LONG=1 takes more. */
const KILLS = process.env['PETGATE_LONG'] === '1' ? 20 : 2;
const KEYS_EACH = 12;
const SECRET = `whsec_${Buffer.alloc(32, 's').toString('base64')}`;
const OLD_SECRET = `whsec_${Buffer.alloc(32, 'o').toString('base64')}`;
/** For leases, pauses and graces to pass on a busy machine. */
const PATIENCE_MS = KILLS > 2 ? 300_000 : 120_000;

interface Setting {
  readonly url: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly dataFolder?: string;
}

function startTelling(t: Test, { url, environment, dataFolder }: Setting): Promise<Gateway> {
  return startGateway(t, {
    config: { events: { url, allow_local: true, timeout: '1s', retry: '100ms' } },
    environment: { PETGATE_EVENTS_SECRET: `${SECRET} ${OLD_SECRET}`, ...environment },
    ...(dataFolder === undefined ? {} : { dataFolder }),
  });
}

/** How often one event fails at most: pauses double, and nobody wants to wait for the longest. */
const FAILURES = 4;

/** Takes about every second attempt; fails the others in all ways there are. */
function atRandom(): Answering {
  const failures = new Map<unknown, number>();
  return (response, { event: { id } }) => {
    const failed = failures.get(id) ?? 0;
    const fate = failed < FAILURES ? Math.random() : 0;
    if (fate >= 0.5) failures.set(id, failed + 1);
    if (fate < 0.5) response.end();
    else if (fate < 0.8) response.writeHead(503).end();
    else if (fate < 0.95) response.destroy();
    // Else it hangs.
  };
}

/** Makes keys and changes each; gives what was acknowledged, as `type key`. */
async function live(gateway: Gateway): Promise<readonly string[]> {
  const acknowledged: string[] = [];
  const ask = async (method: string, path: string, body: unknown): Promise<{ status: number; id: string }> => {
    const { status, body: answer } = await gateway.admin(method, path, body);
    return { status, id: (answer as { id: string } | null)?.id ?? '' };
  };
  const liveOne = async (name: string): Promise<void> => {
    const made = await ask('POST', '/admin/v1/keys', { plan: 'free', name });
    if (made.status === 201) acknowledged.push(`petgate.key.created ${made.id}`);
    const changed = await ask('PATCH', `/admin/v1/keys/${made.id}`, { plan: 'pro' });
    if (changed.status === 200) acknowledged.push(`petgate.key.changed ${made.id}`);
    const { status } = await ask('DELETE', `/admin/v1/keys/${made.id}`, undefined);
    if (status === 204) acknowledged.push(`petgate.key.revoked ${made.id}`);
  };
  // What the kill cuts off is no answer.
  await Promise.allSettled(Array.from({ length: KEYS_EACH }, (_, n) => liveOne(`key ${n}`)));
  return acknowledged;
}

const factOf = ({ event }: Received): string => {
  const { threshold = '' } = event['data'] as { threshold?: number };
  return [event['type'], event['subject'], threshold].join(' ').trim();
};

/** Units of a day that `spend` uses up, and after how many of them which shares are crossed. */
const DAY = 4;
const SHARES: ReadonlyMap<number, readonly number[]> = new Map([
  [2, [50]],
  [4, [80, 100]],
]);

/** Spends days of keys with and without a customer; gives the crossings of which all requests were answered. */
async function spend(gateway: Gateway): Promise<readonly string[]> {
  const crossed: string[] = [];
  const terms = { plan: 'enterprise', limits: { minute: 100, day: DAY } };
  const spendAll = async (subject: string, tokens: readonly string[]): Promise<void> => {
    for (let used = 1; used <= DAY; used += 1) {
      const headers = { authorization: `Bearer ${tokens[used % tokens.length]!}` };
      const answer = await fetch(`${gateway.url}/v1/nowhere`, { headers });
      await answer.arrayBuffer();
      if (answer.status !== 404) return;
      for (const share of SHARES.get(used) ?? []) crossed.push(`petgate.quota.crossed ${subject} ${share}`);
    }
  };
  const spendKey = async (): Promise<void> => {
    const { id, key } = await gateway.createKey(terms);
    await spendAll(id, [key]);
  };
  const spendCustomer = async (): Promise<void> => {
    const { body } = await gateway.admin('POST', '/admin/v1/customers', { ...terms, name: 'told' });
    const { id } = body as { id: string };
    const keys = [await gateway.createKey({ customer: id }), await gateway.createKey({ customer: id })];
    await spendAll(
      id,
      keys.map(({ key }) => key),
    );
  };
  await Promise.allSettled(Array.from({ length: KEYS_EACH }, (_, n) => (n % 2 === 0 ? spendKey() : spendCustomer())));
  return crossed;
}

async function survivesKills(t: Test, setting: Omit<Setting, 'url'>): Promise<void> {
  const receiver = await startReceiver(t, atRandom());
  const acknowledged: string[] = [];
  let gateway = await startTelling(t, { ...setting, url: receiver.url });
  for (let kill = 1; kill <= KILLS; kill += 1) {
    const before = receiver.received.length;
    const living = Promise.all([live(gateway), spend(gateway)]);
    // In the midst of it: changes are made, and attempts under way.
    await until('it delivers', () => receiver.received.length > before + Math.random() * KEYS_EACH);
    await gateway.program.stop('SIGKILL');
    acknowledged.push(...(await living).flat());
    gateway = await startTelling(t, { ...setting, url: receiver.url });
  }
  acknowledged.push(...(await live(gateway)), ...(await spend(gateway)));
  const taken = (): ReadonlySet<string> => {
    const ids = new Set(receiver.taken());
    return new Set(receiver.received.filter(({ event }) => ids.has(String(event['id']))).map(factOf));
  };
  const missing = (): readonly string[] => acknowledged.filter((fact) => !taken().has(fact));
  await until('every event has arrived', () => missing().length === 0, PATIENCE_MS).catch(() => undefined);
  t.strictSame(missing(), [], `of ${acknowledged.length} facts`);
  t.ok(
    acknowledged.length >= 6 * KEYS_EACH,
    `${acknowledged.length} changes and crossings, ${receiver.received.length} attempts`,
  );

  const idsOf = new Map<string, Set<string>>();
  for (const each of receiver.received)
    idsOf.set(factOf(each), (idsOf.get(factOf(each)) ?? new Set()).add(String(each.headers['webhook-id'])));
  t.strictSame(
    [...idsOf].filter(([, ids]) => ids.size > 1),
    [],
    'repeats share their id',
  );
  for (const each of receiver.received) {
    t.equal(each.event['id'], each.headers['webhook-id']);
    t.strictSame(goodSignatures(each, SECRET), [true, false]);
    t.strictSame(goodSignatures(each, OLD_SECRET), [false, true]);
  }
  await until(
    'the outbox is empty',
    async () => (await gateway.admin('GET', '/admin/v1/events')).body !== null && (await waiting(gateway)) === 0,
    PATIENCE_MS,
  );
  t.notMatch(gateway.program.output(), /whsec_|from=petgate|c3Nzc3/, 'no secret is logged');
}

async function waiting(gateway: Gateway): Promise<number> {
  return (await scrape(gateway.adminUrl)).value('petgate_events', { state: 'waiting' });
}

t.test('kill -9 on the embedded engine loses no event', (t) => survivesKills(t, { dataFolder: temporaryFolder(t) }));

t.test('kill -9 on Redis loses no event', async (t) => {
  const redis = await startRedis();
  t.teardown(() => redis.stop());
  await survivesKills(t, { environment: { REDIS_URL: redis.url } });
});

t.test('of two gateways on one Redis each event is delivered by one', async (t) => {
  const redis = await startRedis();
  t.teardown(() => redis.stop());
  const receiver = await startReceiver(t);
  const setting = { url: receiver.url, environment: { REDIS_URL: redis.url } };
  const gateways = await Promise.all([startTelling(t, setting), startTelling(t, setting)]);
  const facts = (await Promise.all(gateways.map(live))).flat();
  await until('all have arrived', () => receiver.received.length >= facts.length);
  await until('nothing waits', async () => (await waiting(gateways[0])) === 0);
  t.strictSame(receiver.received.map(factOf).sort(), [...facts].sort());
});

t.test('a receiver that hangs costs neither requests nor changes, and a stop waits for nothing', async (t) => {
  const receiver = await startReceiver(t, () => undefined);
  const gateway = await startGateway(t, {
    config: { events: { url: receiver.url, allow_local: true, timeout: '1m' } },
    environment: { PETGATE_EVENTS_SECRET: SECRET },
  });
  const { id, key } = await gateway.createKey({ plan: 'free' });
  await until('an attempt hangs', () => receiver.received.length === 1);
  t.equal((await gateway.admin('PATCH', `/admin/v1/keys/${id}`, { plan: 'pro' })).status, 200);
  const usage = await fetch(`${gateway.url}/v1/usage`, { headers: { authorization: `Bearer ${key}` } });
  t.equal(usage.status, 200);
  await gateway.program.stop();
  t.match(await gateway.program.exited, { code: 0 });
});

t.test("a customer's webhook is told of its own, beside the operators', each signed for whom it goes to", async (t) => {
  const [operators, shop] = [await startReceiver(t), await startReceiver(t)];
  const gateway = await startTelling(t, { url: operators.url });
  const make = async (): Promise<string> => {
    const terms = { plan: 'enterprise', limits: { minute: 100, day: DAY }, name: 'told' };
    return ((await gateway.admin('POST', '/admin/v1/customers', terms)).body as { id: string }).id;
  };
  const [told, other] = [await make(), await make()];
  const path = `/admin/v1/customers/${told}/webhook`;
  const { body } = await gateway.admin('PUT', path, { url: shop.url });
  const { secret } = body as { secret: string };
  const use = async (customer: string): Promise<string> => {
    const { id, key } = await gateway.createKey({ customer });
    for (let used = 0; used < DAY; used += 1)
      await fetch(`${gateway.url}/v1/nowhere`, { headers: { authorization: `Bearer ${key}` } });
    return id;
  };
  const keys = [await use(told), await use(other)];
  await until('the customer was told', () => shop.taken().length >= 4);
  await until('the operators were', () => operators.taken().length >= 8);
  await until('nothing waits', async () => (await waiting(gateway)) === 0);
  const facts = ['petgate.key.created', ...[50, 80, 100].map((share) => `petgate.quota.crossed ${told} ${share}`)];
  t.same(shop.received.map(factOf).sort(), [`${facts[0]!} ${keys[0]!}`, ...facts.slice(1)].sort());
  t.equal(operators.received.length, 8);
  for (const each of shop.received) {
    t.strictSame(goodSignatures(each, secret), [true]);
    t.ok(
      operators.received.some(({ body: its }) => its === each.body),
      'the same event, under the same id',
    );
    t.equal(each.headers['webhook-id'], each.event['id']);
  }
  const { secret: next } = (await gateway.admin('POST', `${path}/rotate`, {})).body as { secret: string };
  await gateway.admin('PATCH', `/admin/v1/keys/${keys[0]!}`, { note: 'x' });
  await until('it is told of the change', () => shop.received.length === 5);
  const last = shop.received.at(-1)!;
  t.strictSame(
    [goodSignatures(last, next), goodSignatures(last, secret)],
    [
      [true, false],
      [false, true],
    ],
  );
  t.equal((await gateway.admin('DELETE', path)).status, 204);
  await gateway.admin('PATCH', `/admin/v1/keys/${keys[0]!}`, { note: 'y' });
  await until('the operators are told of that alone', () => operators.received.length === 10);
  await until('nothing waits', async () => (await waiting(gateway)) === 0);
  t.equal(shop.received.length, 5);
  const shown = JSON.stringify([
    (await gateway.admin('GET', `/admin/v1/customers/${told}`)).body,
    (await gateway.admin('GET', `/admin/v1/customers/${told}/history`)).body,
    gateway.program.output(),
  ]);
  t.notMatch(shown, /whsec_|from=petgate/);
});

t.test("a customer's webhook that hangs holds up nobody else's, and one of the local network is refused", async (t) => {
  const [operators, hung] = [await startReceiver(t), await startReceiver(t, () => undefined)];
  const gateway = await startTelling(t, { url: operators.url });
  const { id } = (await gateway.admin('POST', '/admin/v1/customers', { plan: 'free', name: 'hung' })).body as {
    id: string;
  };
  const path = `/admin/v1/customers/${id}/webhook`;
  t.equal((await gateway.admin('PUT', path, { url: hung.url })).status, 200);
  const { id: keyId } = await gateway.createKey({ customer: id });
  await until('it hangs', () => hung.received.length > 0);
  await until('the operators know', () => operators.received.some(({ event }) => event['subject'] === keyId));
  const guarded = await startGateway(t, {
    environment: { PETGATE_EVENTS_URL: 'https://hooks.example.com/x', PETGATE_EVENTS_SECRET: SECRET },
  });
  const { body } = await guarded.admin('POST', '/admin/v1/customers', { plan: 'free', name: 'guarded' });
  const own = `/admin/v1/customers/${(body as { id: string }).id}/webhook`;
  for (const url of [hung.url, 'https://127.0.0.1/', 'https://[::1]/', 'http://hooks.example.com/'])
    t.match(await guarded.admin('PUT', own, { url }), { status: 400, body: { message: /must begin with https/ } });
});

t.test(
  'without the webhook nothing is kept; with a wrong one nothing starts, and the secret stays out of it',
  async (t) => {
    const silent = await startGateway(t);
    await silent.createKey({ plan: 'free' });
    t.match((await silent.admin('GET', '/admin/v1/events')).body, { events: [], cursor: null });
    const url = 'https://hooks.example.com/hidden-in-the-path';
    for (const [environment, words] of [
      [{ PETGATE_EVENTS_URL: url }, /Events are sent signed: set PETGATE_EVENTS_SECRET/],
      [{ PETGATE_EVENTS_URL: url, PETGATE_EVENTS_SECRET: 'hidden-and-wrong' }, /PETGATE_EVENTS_SECRET holds no secret/],
      [{ PETGATE_EVENTS_URL: 'http://hooks.example.com/hidden' }, /must begin with https:\/\//],
      [{ PETGATE_EVENTS_URL: 'https://10.0.0.1/hidden' }, /not lead to a local address, unless allow_local is true/],
      [{ PETGATE_EVENTS_URL: 'https://[::ffff:127.0.0.1]/hidden' }, /not lead to a local address/],
      [{ PETGATE_EVENTS_URL: 'https://user:hidden@hooks.example.com/' }, /without user, password and fragment/],
      [{ PETGATE_EVENTS_ALLOW_LOCAL: 'yes' }, /must be true or false/],
    ] as const) {
      const message = await startGateway(t, { environment }).then(
        () => 'it started',
        (error: unknown) => String(error),
      );
      t.match(message, words);
      t.notMatch(message, 'hidden');
    }
  },
);
