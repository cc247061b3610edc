import t from 'tap';
import { startCluster } from '../servers/redis.js';

// Operations are called as in a document that isn't ours: a store that takes these takes any.
process.env['CONFORMANCE_NAMES'] = 'foreign';
const { conformance } = await import('./engine.js');
const { openEngine } = await import('./open.js');

const cluster = await startCluster();
t.teardown(() => cluster.stop());
await conformance(t, 'Redis Cluster of three masters', () =>
  Promise.resolve(openEngine({ engine: 'redis', url: cluster.url })),
);

t.test('the keys of a test are spread over all masters', async (t) => {
  for (const master of cluster.masters) t.ok(Number(await master.command('DBSIZE')) > 10);
});
