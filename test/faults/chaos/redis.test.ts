import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { startRedis } from '../../servers/redis.js';
import type { RedisServer } from '../../servers/redis.js';
import { startUpstream } from '../../servers/upstream.js';
import { EVENTS } from './events.js';
import type { Events } from './events.js';
import { Fleet } from './fleet.js';
import { pick, repeat } from './random.js';
import { checkLedger, settled, survive, TIMEOUT_MS } from './survive.js';

const outages = (redis: RedisServer): Events => ({
  'Redis stands still': async (_fleet, random) => {
    redis.freeze();
    await sleep(50 + random() * 850);
    redis.thaw();
  },
  'Redis is frozen for long': async (_fleet, random) => {
    redis.freeze();
    await sleep(1_000 + random() * 1_000);
    redis.thaw();
  },
  'Redis is killed': async (_fleet, random) => {
    await redis.kill();
    await sleep(random() * 1_500);
    await redis.restart();
  },
  'a gateway dies while Redis is away': async (fleet, random) => {
    await redis.kill();
    await sleep(random() * 1_000);
    await fleet.restart(pick(fleet.seats, random), 'SIGKILL');
    await redis.restart();
  },
});

t.setTimeout(TIMEOUT_MS);

t.test(`two gateways on one Redis: whatever happens, no count is lost and none is made up (${repeat})`, async (t) => {
  const redis = await startRedis({ config: ['appendonly yes', 'appendfsync always'] });
  t.teardown(() => redis.stop());
  const fleet = new Fleet(t, { environment: { REDIS_URL: redis.url } }, await startUpstream(t));
  await survive(t, fleet, 2, { ...EVENTS, ...outages(redis) });
  await settled(fleet);
  await checkLedger(t, fleet);
});
