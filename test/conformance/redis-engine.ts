import type { Test } from 'tap';
import { openRedisEngine, type RedisEngine } from '../../src/gateway/store/redis/engine.js';
import { startRedis, type RedisServer } from '../servers/redis.js';
import { PLANS } from './cast.js';

type Options = Partial<Parameters<typeof openRedisEngine>[0]>;

/** Opens an engine on a Redis of its own; both end with the test. */
export async function redisEngineFor(
  t: Test,
  options: Options = {},
): Promise<{ readonly redis: RedisServer; readonly engine: RedisEngine }> {
  const redis = await startRedis();
  const engine = openRedisEngine({ url: redis.url, deadlineMs: 10_000, plans: PLANS, usageDays: 400, ...options });
  t.teardown(async () => {
    await engine.close();
    await redis.stop();
  });
  return { redis, engine };
}
