import t from 'tap';
import { openRedisEngine } from '../../src/gateway/store/redis/engine.js';
import { startCluster } from '../servers/redis.js';
import { PLANS } from './cast.js';
import { conformance } from './engine.js';

const cluster = await startCluster();
t.teardown(() => cluster.stop());
await conformance(t, 'Redis Cluster of three masters', () =>
  Promise.resolve(
    openRedisEngine({
      url: cluster.url,
      deadlineMs: 10_000,
      plans: PLANS,
      usageDays: 400,
      events: true,
    }),
  ),
);

t.test('the keys of a test are spread over all masters', async (t) => {
  for (const master of cluster.masters) t.ok(Number(await master.command('DBSIZE')) > 10);
});
