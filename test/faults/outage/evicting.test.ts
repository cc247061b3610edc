import t from 'tap';
import { startGateway, type Gateway } from '../../servers/gateway.js';
import { redisFor } from '../../servers/redis.js';
import { until } from '../../servers/until.js';
import { openClient } from '../../e2e/client.js';
import { createKey, figure, starterOn } from '../fleet.js';
import { kindOf } from '../load.js';

const MEMORY = 'maxmemory 200mb';
const EVICTING = [MEMORY, 'maxmemory-policy volatile-lru'];

const readyOf = async (gateway: Gateway): Promise<{ status: number; body: unknown }> => gateway.admin('GET', '/readyz');

/** Waits until it says that Redis drops data; and gives whether it never was ready until then. */
async function toldUnready(gateway: Gateway): Promise<boolean> {
  let neverReady = true;
  await until('it says why', async () => {
    const { status, body } = await readyOf(gateway);
    neverReady &&= status === 503;
    return JSON.stringify(body).includes('volatile-lru');
  });
  return neverReady;
}

t.test('a gateway that starts on a Redis that drops data is not ready, and says why', async (t) => {
  const redis = await redisFor(t, { config: EVICTING });
  const environment = { REDIS_URL: redis.url };
  const gateway = await startGateway(t, { environment });
  t.ok(await toldUnready(gateway));
  t.match(await readyOf(gateway), { status: 503, body: { parts: { store: { ok: false, detail: /volatile-lru/ } } } });
  t.match((await gateway.program.logged('Redis may drop data'))['reason'], /store\.eviction/);
  t.equal(await figure(gateway, 'petgate_store_evicts'), 1);
  const accepting = await startGateway(t, { environment, config: { store: { eviction: 'accept' } } });
  await until('who accepts it is ready', async () => (await readyOf(accepting)).status === 200);
  t.equal(await figure(accepting, 'petgate_store_evicts'), 0);
  await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
  await until('it is ready once that is mended', async () => (await readyOf(gateway)).status === 200);
});

t.test('nor is one that starts while that Redis does not answer: it has not seen that data stays', async (t) => {
  const redis = await redisFor(t, { config: EVICTING });
  redis.freeze();
  const gateway = await startGateway(t, { environment: { REDIS_URL: redis.url } });
  await until('it decides by itself', async () => (await figure(gateway, 'petgate_store_up')) === 1);
  redis.thaw();
  t.ok(await toldUnready(gateway));
});

t.test(
  'a key whose record may have been dropped is not called invalid, though the store is the one it was',
  async (t) => {
    const redis = await redisFor(t, { config: [MEMORY] });
    const start = await starterOn(t, redis.url);
    const [maker, other] = [await start(), await start()];
    const accepting = await start({ config: { store: { eviction: 'accept' } } });
    const [kept, dropped] = [await createKey(maker, 'roomy'), await createKey(maker, 'roomy')];
    await until('it is ready', async () => (await readyOf(other)).status === 200);
    // One policy after the other, so that nobody has looked lately.
    const kindUnder = async (policy: string, gateway: Gateway, key: string): Promise<string> => {
      await redis.command('CONFIG', 'SET', 'maxmemory-policy', policy);
      return kindOf(await openClient(t, gateway.url, 1).send(key));
    };
    // As an eviction does; the marks by which the store is known are still there.
    await redis.command('DEL', `petgate:{${dropped.id}}:key`);
    t.equal(await kindUnder('allkeys-lru', other, dropped.key), 'store_unavailable');
    t.equal(await kindUnder('allkeys-random', other, kept.key), '200', 'who is known is served');
    t.equal(await kindUnder('volatile-lru', other, dropped.key), 'invalid_api_key', 'a record has no expiry');
    t.equal(await kindUnder('allkeys-lfu', other, dropped.key), 'store_unavailable');
    t.equal(await kindUnder('allkeys-lfu', accepting, dropped.key), 'invalid_api_key', 'unless somebody accepted that');
    t.equal(await kindUnder('noeviction', other, dropped.key), 'invalid_api_key');
  },
);

t.test('a policy that turns while it runs: told, and served on; what is dropped is counted', async (t) => {
  const redis = await redisFor(t, { config: [MEMORY] });
  const gateway = await (await starterOn(t, redis.url))();
  const { key } = await createKey(gateway, 'roomy');
  await until('it is ready', async () => (await readyOf(gateway)).status === 200);
  await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'volatile-ttl');
  await until('it is told', async () => (await figure(gateway, 'petgate_store_evicts')) === 1);
  t.match(await readyOf(gateway), { status: 200, body: { parts: { store: { degraded: true } } } });
  t.equal(kindOf(await openClient(t, gateway.url, 1).send(key)), '200');
  await redis.command('SETEX', 'somebody-elses', 60, 'x'.repeat(1_000_000));
  const used = Number(/used_memory:(\d+)/.exec(String(await redis.command('INFO', 'memory')))?.[1]);
  // Less than there is, and enough for all but what somebody else left.
  await redis.command('CONFIG', 'SET', 'maxmemory', used - 300_000);
  await until('what was dropped is counted', async () => (await figure(gateway, 'petgate_store_evicted_keys')) > 0);
});
