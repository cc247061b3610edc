import t from 'tap';
import { editionOf, probeOf } from '../../../../../src/gateway/store/redis/admit/admit.js';
import { connect } from '../../../../../src/gateway/store/redis/link/connect.js';
import { knownStoreInMemory } from '../../../../../src/gateway/store/known-store.js';
import { Link } from '../../../../../src/gateway/store/redis/link/link.js';
import { parseRedisUrl } from '../../../../../src/gateway/store/redis/link/url.js';
import { PLANS } from '../../../../conformance/cast.js';
import { startCluster, startRedis } from '../../../../servers/redis.js';
import { until } from '../../../../servers/until.js';

const DEADLINE_MS = 200;

for (const start of [startRedis, startCluster]) {
  t.test(`a client that gave up for good is made to dial again (${start.name})`, async (t) => {
    const server = await start();
    const client = connect(parseRedisUrl(server.url), DEADLINE_MS);
    const link = new Link(client, {
      deadlineMs: DEADLINE_MS,
      probe: () => probeOf(editionOf(PLANS, 400)),
      known: knownStoreInMemory(),
      environment: null,
      log: undefined,
    });
    t.teardown(async () => {
      await link.close();
      await server.stop();
    });
    await until('the link is up', async () => (await link.check('petgate:{a}:'), true));
    client.disconnect();
    await until('the client has gone', () => client.status !== 'ready');
    await until('the link is up again', async () => (await link.check('petgate:{a}:'), true));
    await link.close();
    await t.rejects(link.check('petgate:{a}:'), { name: 'StoreUnavailable' }, 'but not after the end');
    await until('the client has gone for good', () => client.status !== 'ready');
  });
}
