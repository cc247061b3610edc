import { cp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { Test } from 'tap';
import { redisFor, type RedisServer } from '../../servers/redis.js';
import { until } from '../../servers/until.js';
import { startUpstream } from '../../servers/upstream.js';
import { figure } from '../fleet.js';
import { DAY_MS, EVENTS, stepped, type Events } from './events.js';
import { Fleet } from './fleet.js';
import { pick, repeat } from './random.js';
import { checkRehearsal } from './rehearsal.js';
import { checkLedger, mayLose, settled, survive, TIMEOUT_MS } from './survive.js';

/** What others keep beside the gateways, of which most must go. */
const OTHERS = 100;
const OTHER_BYTES = 20_000;

/** Starts it again with what was put aside. */
async function bringBack(redis: RedisServer, data: string, aside: string): Promise<void> {
  await redis.kill();
  await rm(data, { recursive: true });
  await rename(aside, data);
  await redis.restart();
}

function losses(t: Test, redis: RedisServer): Events {
  const data = join(redis.folder, 'appendonlydir');
  const aside = join(redis.folder, 'aside');
  const known = async ({ seats }: Fleet, ...metrics: readonly string[]): Promise<void> => {
    for (const { gateway } of seats)
      await until(`each gateway knows: ${metrics.join()}`, async () => {
        const figures = await Promise.all(metrics.map((metric) => figure(gateway, metric)));
        return figures.includes(1);
      });
  };
  return {
    'Redis comes back empty, and later as it was': async (fleet, random) => {
      await redis.kill();
      await rename(data, aside);
      await redis.restart();
      await known(fleet, 'petgate_store_replaced');
      await sleep(random() * 500);
      await bringBack(redis, data, aside);
    },
    'Redis drops data, and gets it back': async (fleet, random) => {
      const policy = random() < 0.5 ? 'volatile-random' : 'allkeys-random';
      const drops = async (): Promise<void> => {
        await cp(data, aside, { recursive: true });
        for (let n = 0; n < OTHERS; n += 1) await redis.command('SETEX', `other-${n}`, 600, 'x'.repeat(OTHER_BYTES));
        const used = Number(/used_memory:(\d+)/.exec(String(await redis.command('INFO', 'memory')))?.[1]);
        const maxmemory = used - 0.9 * OTHERS * OTHER_BYTES;
        await redis.command('CONFIG', 'SET', 'maxmemory-policy', policy, 'maxmemory', maxmemory);
        await until(
          'it drops data',
          async () => !/evicted_keys:0\r/.test(String(await redis.command('INFO', 'stats'))),
        );
        // What it dropped may be its own identity.
        await known(fleet, 'petgate_store_evicts', 'petgate_store_replaced');
      };
      await mayLose(t, fleet, drops, () => bringBack(redis, data, aside));
    },
  };
}

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
  'a gateway dies while Redis is unavailable': async (fleet, random) => {
    await redis.kill();
    await sleep(random() * 1_000);
    await fleet.restart(pick(fleet.seats, random), 'SIGKILL');
    await redis.restart();
  },
  // And counts on afterwards, by the right one, what Redis has counts of.
  'the clock of a gateway is ahead while its counts are sent': async (fleet, random) => {
    const seat = pick(fleet.seats, random);
    await redis.kill();
    await sleep(1_000 + random() * 500);
    const back = async (): Promise<void> => {
      await redis.restart();
      await settled({ seats: [seat] });
    };
    await stepped(seat, [[41 * DAY_MS, back]]);
    await fleet.serves();
    await redis.kill();
    await sleep(1_000 + random() * 500);
    await redis.restart();
  },
});

t.setTimeout(TIMEOUT_MS);

t.test(`two gateways on one Redis: whatever happens, no count is lost and none is made up (${repeat})`, async (t) => {
  const redis = await redisFor(t, { config: ['appendonly yes', 'appendfsync always'] });
  const fleet = new Fleet(t, { environment: { REDIS_URL: redis.url } }, await startUpstream(t));
  await survive(t, fleet, 2, { ...EVENTS, ...outages(redis), ...losses(t, redis) });
  await settled(fleet);
  await checkLedger(t, fleet);
  checkRehearsal(t, fleet);
});
