import t from 'tap';
import { evictionAt } from '../../../../../src/gateway/store/redis/trust/eviction.js';
import { startCluster, startRedis } from '../../../../servers/redis.js';

const MEMORY = 'maxmemory 200mb';
const EVICTING = [MEMORY, 'maxmemory-policy volatile-lru'];

t.test('a Redis is asked once, with few rights, and a Cluster node by node', async (t) => {
  const config = [...EVICTING, 'user petgate on >s3cret ~petgate:* +info', 'user default off'];
  const redis = await startRedis({ config });
  t.teardown(() => redis.stop());
  t.match(await evictionAt(redis.url.replace('//', '//petgate:s3cret@'), 1_000), /volatile-lru/);
  await t.rejects(evictionAt(redis.url.replace('//', '//petgate:wrong@'), 1_000), /WRONGPASS/);
  const cluster = await startCluster({ config: [MEMORY] });
  t.teardown(() => cluster.stop());
  t.equal(await evictionAt(cluster.url, 1_000), null);
  await cluster.masters[2]!.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lfu');
  t.match(await evictionAt(cluster.url, 1_000), /allkeys-lfu/);
  t.strictSame(await cluster.masters[0]!.command('KEYS', '*'), [], 'and nothing was written');
});
