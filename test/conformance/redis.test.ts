import t from 'tap';
import { openRedisEngine } from '../../src/gateway/store/redis/engine.js';
import { startRedis } from '../servers/redis.js';
import { PLANS } from './cast.js';
import { conformance } from './engine.js';

const server = await startRedis();
t.teardown(() => server.stop());
await conformance(t, 'redis', () =>
  Promise.resolve(
    openRedisEngine({
      url: server.url,
      deadlineMs: 10_000,
      plans: PLANS,
      usageDays: 400,
      events: true,
    }),
  ),
);
