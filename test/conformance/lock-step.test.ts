import t from 'tap';
import type { Test } from 'tap';
import { engineOn } from '../../src/gateway/store/embedded/engine.js';
import { storedKeyVerifier } from '../../src/gateway/store/embedded/records/verifier.js';
import { openStores } from '../../src/gateway/store/embedded/owner/stores.js';
import { sweepOf } from '../../src/gateway/store/embedded/sweep.js';
import { startRedis } from '../servers/redis.js';
import { tempFolder } from '../gateway/store/embedded/fixture.js';
import { PLANS } from './cast.js';
import { lockStep, lockStepOfDays } from './lock-step.js';
import { openEngine } from './open.js';
import { referenceEngine, type SteeredEngine } from './reference.js';

/** Longer than any story: a sweep that an engine makes by itself in its midst would take the days of its beginning. */
const USAGE_DAYS = 4_000_000;

/** The three engines, gone with the test; the embedded one sweeps when it is told. */
async function setUp(t: Test): Promise<readonly SteeredEngine[]> {
  const server = await startRedis();
  const folder = tempFolder(t);
  const redis = openEngine({ engine: 'redis', url: server.url }, USAGE_DAYS);
  const stores = openStores({ folder, mapBytes: 256 * 1_048_576 });
  const verifier = storedKeyVerifier(stores, PLANS);
  const embedded = engineOn(stores, verifier, USAGE_DAYS, true);
  const sweep = sweepOf(stores, USAGE_DAYS, verifier);
  t.teardown(async () => {
    await Promise.all([redis.close(), embedded.close()]);
    await server.stop();
  });
  const swept: SteeredEngine = {
    ...embedded,
    sweep: async (nowMs) => {
      await stores.fold.run();
      // A step looks at some rows only, and stories before this one have left theirs.
      for (let step = 0; step < 3; step += 1) await sweep(nowMs);
    },
  };
  return [referenceEngine(PLANS), redis, swept];
}

t.test('every engine decides as whole numbers of any size say, whatever the story', async (t) => {
  t.setTimeout(600_000);
  await lockStep(t, await setUp(t));
});

t.test('nor does it matter what a store forgets meanwhile', async (t) => {
  t.setTimeout(600_000);
  await lockStepOfDays(t, await setUp(t));
});
