import t from 'tap';
import type { Test } from 'tap';
import type { Gateway } from '../servers/gateway.js';
import { startReceiver } from '../servers/receiver.js';
import { startRedis } from '../servers/redis.js';
import { until } from '../servers/until.js';
import { startTelling } from './telling.js';

/** More than of failing ones are called at once. */
const HUNG = 100;
const AT_ONCE = 20;

/** A customer whose webhook is `url`; gives its id. */
async function tellCustomer(gateway: Gateway, url: string): Promise<string> {
  const { body } = await gateway.admin('POST', '/admin/v1/customers', { plan: 'free', name: 'told' });
  const { id } = body as { id: string };
  t.equal((await gateway.admin('PUT', `/admin/v1/customers/${id}/webhook`, { url })).status, 200);
  return id;
}

/** Makes `count` customers with a key each, of which `url` is told. */
async function tellMany(gateway: Gateway, url: string, count: number): Promise<void> {
  for (let made = 0; made < count; made += AT_ONCE)
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, count - made) }, async () => {
        await gateway.createKey({ customer: await tellCustomer(gateway, url) });
      }),
    );
}

async function apart(t: Test, environment: Readonly<Record<string, string>>): Promise<void> {
  await t.test("customers' webhooks that hang hold up neither the operators' nor each other's", async (t) => {
    const [operators, shop] = [await startReceiver(t), await startReceiver(t)];
    const hung = await startReceiver(t, () => undefined);
    const gateway = await startTelling(t, { url: operators.url, timeout: '1m', environment });
    const good = await tellCustomer(gateway, shop.url);
    await tellMany(gateway, hung.url, HUNG);
    await until('attempts hang', () => hung.received.length >= 10);
    const { id } = await gateway.createKey({ customer: good });
    await until('the operators know', () => operators.received.some(({ event }) => event['subject'] === id));
    await until('the other customer knows', () => shop.received.some(({ event }) => event['subject'] === id));
    t.ok(hung.received.length <= HUNG, 'all of this in the time of one attempt');
  });

  await t.test("the operators' webhook that hangs holds up no customer's", async (t) => {
    const [hung, shop] = [await startReceiver(t, () => undefined), await startReceiver(t)];
    const gateway = await startTelling(t, { url: hung.url, timeout: '1m', environment });
    const good = await tellCustomer(gateway, shop.url);
    for (let made = 0; made < 2 * AT_ONCE; made += 1) await gateway.createKey({ plan: 'free' });
    await until('attempts hang', () => hung.received.length >= 9);
    const { id } = await gateway.createKey({ customer: good });
    await until('the customer knows', () => shop.received.some(({ event }) => event['subject'] === id));
  });
}

t.test('receivers are apart, embedded', (t) => apart(t, {}));

t.test('receivers are apart, with Redis', async (t) => {
  const redis = await startRedis();
  t.teardown(() => redis.stop());
  await apart(t, { REDIS_URL: redis.url });
});
