import t from 'tap';
import { startGateway } from '../servers/gateway.js';
import { goodSignatures, startReceiver } from '../servers/receiver.js';
import { startRedis } from '../servers/redis.js';
import { until } from '../servers/until.js';
import { factOf, live, SECRET, startTelling, waiting } from './telling.js';

/** Units of a day. */
const DAY = 4;

t.test('of two gateways on one Redis each event is delivered by one', async (t) => {
  const redis = await startRedis();
  t.teardown(() => redis.stop());
  const receiver = await startReceiver(t);
  // A receiver on a busy machine answers late: an attempt that is given up is rightly made again.
  const setting = { url: receiver.url, timeout: '1m', environment: { REDIS_URL: redis.url } };
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

t.test(
  "a customer's webhook is notified of its own, beside the operators', each signed for whom it goes to",
  async (t) => {
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
    await until('it is notified of the change', () => shop.received.length === 5);
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
    await until('the operators are notified of that alone', () => operators.received.length === 10);
    await until('nothing waits', async () => (await waiting(gateway)) === 0);
    t.equal(shop.received.length, 5);
    const shown = JSON.stringify([
      (await gateway.admin('GET', `/admin/v1/customers/${told}`)).body,
      (await gateway.admin('GET', `/admin/v1/customers/${told}/history`)).body,
      gateway.program.output(),
    ]);
    t.notMatch(shown, /whsec_|from=petgate/);
  },
);

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
    environment: {
      ...{ PETGATE_EVENTS_URL: operators.url, PETGATE_EVENTS_ALLOW_LOCAL: 'true', PETGATE_EVENTS_SECRET: SECRET },
    },
  });
  const { body } = await guarded.admin('POST', '/admin/v1/customers', { plan: 'free', name: 'guarded' });
  const own = `/admin/v1/customers/${(body as { id: string }).id}/webhook`;
  for (const url of [hung.url, 'https://127.0.0.1/', 'https://[::1]/', 'http://hooks.example.com/'])
    t.match(await guarded.admin('PUT', own, { url }), { status: 400, body: { message: /must begin with https/ } });
  const inside = await startReceiver(t);
  t.equal((await guarded.admin('PUT', own, { url: `https://localhost:${inside.port}/` })).status, 200, 'a name may');
  await guarded.createKey({ customer: (body as { id: string }).id });
  type Page = { readonly events: readonly { readonly id: string; readonly failure: string | null }[] };
  await until('it is refused when it is called', async () => {
    const { events } = (await guarded.admin('GET', '/admin/v1/events')).body as Page;
    return events.some(
      ({ id: its, failure }) => its.endsWith('-to-customer') && /customer_networks/.test(failure ?? ''),
    );
  });
  t.equal(inside.received.length, 0);
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
