import t from 'tap';
import { stateOf } from '../../../../../src/gateway/store/redis/trust/eviction.js';
import { openRedisEngine } from '../../../../../src/gateway/store/redis/engine.js';
import { PLANS } from '../../../../conformance/cast.js';
import { startCluster, startRedis } from '../../../../servers/redis.js';

const MEMORY = 'maxmemory 200mb';
const EVICTING = [MEMORY, 'maxmemory-policy volatile-lru'];

t.test('a Redis is asked once, with few rights, and a Cluster node by node', async (t) => {
  const config = [...EVICTING, 'user petgate on >s3cret ~petgate:* +info +hmget', 'user default off'];
  const redis = await startRedis({ config });
  t.teardown(() => redis.stop());
  const urlWith = (password: string): string => redis.url.replace('//', `//petgate:${password}@`);
  t.match(await stateOf(urlWith('s3cret'), 1_000), { evicts: /volatile-lru/, isUsed: false });
  await t.rejects(stateOf(urlWith('wrong'), 1_000), /WRONGPASS/);
  const cluster = await startCluster({ config: [MEMORY] });
  t.teardown(() => cluster.stop());
  t.same(await stateOf(cluster.url, 1_000), { evicts: null, isUsed: false });
  await cluster.masters[2]!.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lfu');
  t.match(await stateOf(cluster.url, 1_000), { evicts: /allkeys-lfu/ });
  t.strictSame(await cluster.masters[0]!.command('KEYS', '*'), [], 'and nothing was written');
});

t.test('a Redis that has not said yet whether it drops data is not relied on', async (t) => {
  const redis = await startRedis({ config: [...EVICTING, 'user petgate on >s3cret ~* &* +@all -info'] });
  const url = redis.url.replace('//', '//petgate:s3cret@');
  const engine = openRedisEngine({ url, deadlineMs: 10_000, plans: PLANS, usageDays: 40 });
  t.teardown(async () => {
    await engine.close();
    await redis.stop();
  });
  await t.rejects(engine.check(), { name: 'StoreUnavailable', message: /INFO/ });
  t.equal(engine.trust.evicts(), undefined);
  await redis.command('ACL', 'SETUSER', 'petgate', '+info');
  await engine.check();
  t.match(engine.trust.evicts(), /volatile-lru/);
});
