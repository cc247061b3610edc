import t from 'tap';
import { redisFor } from '../../servers/redis.js';
import { survivesKills } from './survives-kills.js';

// In a file of its own, next to the one of the embedded engine.
t.test('kill -9 on Redis loses no event', async (t) => {
  const redis = await redisFor(t);
  await survivesKills(t, { environment: { REDIS_URL: redis.url } });
});
