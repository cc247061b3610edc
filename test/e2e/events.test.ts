import t from 'tap';
import { startGateway } from '../servers/gateway.js';
import { startReceiver } from '../servers/receiver.js';
import { redisFor } from '../servers/redis.js';
import { until } from '../servers/until.js';
import { factOf, live, SECRET, startTelling, waiting } from './telling.js';

/** Units of a day. */
const DAY = 4;

t.test('of two gateways on one Redis each event is delivered by one', async (t) => {
  const redis = await redisFor(t);
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

t.test("events of a customer's keys name the customer, in the one webhook there is", async (t) => {
  const receiver = await startReceiver(t);
  const gateway = await startTelling(t, { url: receiver.url });
  const terms = { plan: 'enterprise', limits: { minute: 100, day: DAY }, name: 'told' };
  const { id: customer } = (await gateway.admin('POST', '/admin/v1/customers', terms)).body as { id: string };
  const { id, key } = await gateway.createKey({ customer });
  for (let used = 0; used < DAY; used += 1)
    await fetch(`${gateway.url}/v1/nowhere`, { headers: { authorization: `Bearer ${key}` } });
  await until('all have arrived', () => receiver.taken().length >= 4);
  await until('nothing waits', async () => (await waiting(gateway)) === 0);
  const crossed = [50, 80, 100].map((share) => `petgate.quota.crossed ${customer} ${share}`);
  t.same(receiver.received.map(factOf).sort(), [`petgate.key.created ${id}`, ...crossed].sort());
  for (const { event } of receiver.received) t.match(event['data'], { customer, key: id });
});

t.test(
  'without the webhook nothing is kept; with a wrong one nothing starts, and the secret stays out of it',
  async (t) => {
    const silent = await startGateway(t);
    await silent.createKey({ plan: 'free' });
    t.match((await silent.admin('GET', '/admin/v1/events')).body, { events: [], cursor: null });
    const url = 'https://hooks.example.com/hidden-in-the-path';
    const environment = { PETGATE_EVENTS_URL: url, PETGATE_EVENTS_SECRET: 'hidden-and-wrong' };
    const message = await startGateway(t, { environment }).then(
      () => 'it started',
      (error: unknown) => String(error),
    );
    t.match(message, /PETGATE_EVENTS_SECRET does not contain a valid secret/);
    t.notMatch(message, 'hidden');
  },
);
