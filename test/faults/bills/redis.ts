import { pick } from '../chaos/random.js';
import { until } from '../../servers/until.js';
import type { FailoverEngine } from '../../../src/gateway/store/outage/engine.js';
import { emptyStore, type Store } from './model.js';
import { accept, type Place } from './place.js';
import { onRedis, serving, type Step, type Steps } from './steps.js';
import { agoMs, type World } from './world.js';

const MOST_SNAPSHOTS = 5;
const isUp = (place: Place): boolean => onRedis(place) && !place.isDown;

/** A key of which Redis has an older record than the gateway is copied some time later. */
const LEARN_MS = 2_000;

/** Each gateway has copies of the keys, so that it decides about them by itself. */
async function learn({ gateways, store }: Place, { keys }: World): Promise<void> {
  const known = keys.filter(({ id }) => store.keys[id] !== undefined);
  for (const { engine } of gateways) {
    const requests = known.map(({ subject }) => ({
      ...{ subject, operation: 'listPets', scope: null, cost: 0, nowMs: agoMs(0) },
    }));
    const isLearnt = async (): Promise<boolean> => {
      await engine.admit(requests);
      return known.every(({ id }) => (engine as FailoverEngine).cached(id) !== undefined);
    };
    await until('each key is copied', isLearnt, LEARN_MS).catch(() => undefined);
  }
}

/** Redis is down, something happens to it, and it is there again. */
async function meanwhile(place: Place, what: (redis: NonNullable<Place['redis']>) => Promise<Store>): Promise<void> {
  const redis = place.redis!;
  place.wasDistrusted = place.isDistrusted;
  if (!redis.isDown) await redis.goDown();
  await place.settle();
  place.store = await what(redis);
  redis.comeUp();
}

/** What happens to a Redis and ends an outage that is under way. */
const changing = (
  weight: number,
  can: Step['can'],
  what: (place: Place, n: number) => ReturnType<Step['run']>,
): Step => ({
  weight,
  can: (place, world) => onRedis(place) && can(place, world),
  run: (place, _world, random) => what(place, random()),
});

export const REDIS: Steps = {
  'Redis saves a snapshot': {
    weight: 2,
    can: (place) => isUp(place) && place.redis!.snapshots.length < MOST_SNAPSHOTS,
    run: async ({ redis, store }) => {
      await redis!.snapshot(store);
      return `snapshot ${redis!.snapshots.length - 1}`;
    },
  },
  'Redis is gone': {
    weight: 2,
    can: (place) => serving(place) && onRedis(place),
    run: async (place, world) => {
      await learn(place, world);
      await place.redis!.goDown();
      return '';
    },
  },
  'Redis comes back': {
    weight: 2,
    can: (place) => place.isDown,
    run: ({ redis }) => {
      redis!.comeUp();
      return Promise.resolve('as it was');
    },
  },
  'Redis starts from a snapshot': changing(
    2,
    ({ redis }) => redis!.snapshots.length > 0,
    async (place, random) => {
      const n = Math.floor(random * place.redis!.snapshots.length);
      const { file, store } = place.redis!.snapshots[n]!;
      await meanwhile(place, async (redis) => (await redis.startFrom(file), place.revert(store)));
      return `snapshot ${n}`;
    },
  ),
  'Redis comes back empty': changing(
    1,
    () => true,
    async (place) => {
      await meanwhile(place, async (redis) => (await redis.startFrom(null), emptyStore()));
      return '';
    },
  ),
  'the replica falls behind': {
    weight: 2,
    can: (place) => serving(place) && onRedis(place) && place.redis!.behind === null,
    run: async ({ redis, store }) => {
      await redis!.fallBehind(store);
      return '';
    },
  },
  'the replica takes over': changing(
    2,
    ({ redis }) => redis!.behind !== null,
    async (place) => {
      await meanwhile(place, async (redis) => {
        const store = redis.behind!;
        await redis.failOver();
        return place.revert(store);
      });
      return '';
    },
  ),
  'an operator accepts the store': {
    weight: 6,
    can: (place) => isUp(place) && place.isDistrusted,
    run: (place, _world, random) => accept(place, pick(place.gateways, random)),
  },
};
