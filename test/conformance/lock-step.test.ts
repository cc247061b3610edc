import t from 'tap';
import { openRedisEngine } from '../../src/gateway/admission/engines/redis/engine.js';
import { startRedis } from '../servers/redis.js';
import { PLANS } from './cast.js';
import { lockStep } from './lock-step.js';
import { referenceEngine } from './reference.js';

t.test('every engine decides as decide() does, whatever the story', async (t) => {
  const server = await startRedis();
  const redis = openRedisEngine({ url: server.url, deadlineMs: 2_000, plans: PLANS, usageDays: 400 });
  t.teardown(async () => {
    await redis.close();
    await server.stop();
  });
  await lockStep(t, [referenceEngine(PLANS), redis]);
});
