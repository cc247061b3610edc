import t from 'tap';
import { startRedis } from '../servers/redis.js';
import { tempFolder } from '../gateway/admission/engines/embedded/fixture.js';
import { PLANS } from './cast.js';
import { lockStep } from './lock-step.js';
import { openEngine } from './open.js';
import { referenceEngine } from './reference.js';

t.test('every engine decides as decide() does, whatever the story', async (t) => {
  t.setTimeout(150_000);
  const server = await startRedis();
  const engines = [openEngine({ engine: 'redis', url: server.url }), openEngine({ engine: 'embedded', folder: tempFolder(t) })];
  t.teardown(async () => {
    await Promise.all(engines.map((engine) => engine.close()));
    await server.stop();
  });
  await lockStep(t, [referenceEngine(PLANS), ...engines]);
});
