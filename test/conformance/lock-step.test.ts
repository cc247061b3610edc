import t from 'tap';
import type { Test } from 'tap';
import { Checkpoint } from '../../src/gateway/store/embedded/log/checkpoint.js';
import { StoredKeyVerifier } from '../../src/gateway/store/embedded/records/verifier.js';
import { openStores } from '../../src/gateway/store/embedded/files/stores.js';
import { Sweep } from '../../src/gateway/store/embedded/sweep.js';
import { startRedis } from '../servers/redis.js';
import { tempFolder } from '../gateway/store/embedded/fixture.js';
import { PLANS } from './cast.js';
import { lockStep, lockStepOfDays } from './lock-step.js';
import { openEngine } from './open.js';
import { referenceEngine, type SteeredEngine } from './reference.js';

/**
 * One engine of two on the same folder, as two processes of a gateway are: each decides over what the other has just
 * changed.
 */
function inTurns(first: SteeredEngine, second: SteeredEngine): SteeredEngine {
  let calls = 0;
  const next = (): SteeredEngine => ((calls += 1) % 3 === 0 ? second : first);
  return {
    ...first,
    admit: (requests) => next().admit(requests),
    fail: (credits) => next().fail(credits),
    setPlans: (plans) => [first, second].forEach((engine) => engine.setPlans(plans)),
    close: async () => {
      await Promise.all([first.close(), second.close()]);
    },
  };
}

/** Longer than any story: a sweep that an engine makes by itself in its midst would take the days of its beginning. */
const USAGE_DAYS = 4_000_000;

/** The three engines, gone with the test; the embedded one sweeps when it is told. */
async function setUp(t: Test): Promise<readonly SteeredEngine[]> {
  const server = await startRedis();
  const folder = tempFolder(t);
  const redis = openEngine({ engine: 'redis', url: server.url }, USAGE_DAYS);
  const open = (): SteeredEngine => openEngine({ engine: 'embedded', folder }, USAGE_DAYS);
  const embedded = inTurns(open(), open());
  const stores = openStores({ folder, mapBytes: 256 * 1_048_576 });
  const verifier = new StoredKeyVerifier(stores, PLANS);
  const [checkpoint, sweep] = [new Checkpoint(stores), new Sweep(stores, USAGE_DAYS, verifier)];
  t.teardown(async () => {
    await Promise.all([redis.close(), embedded.close()]);
    await stores.close();
    await server.stop();
  });
  const swept: SteeredEngine = {
    ...embedded,
    setPlans: (plans) => {
      embedded.setPlans(plans);
      verifier.plans = plans;
    },
    sweep: async (nowMs) => {
      await checkpoint.merge();
      // A step looks at some rows only, and stories before this one have left theirs.
      for (let step = 0; step < 3; step += 1) await sweep.run(nowMs);
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
