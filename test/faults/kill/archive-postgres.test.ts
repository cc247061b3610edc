import t from 'tap';
import { startPostgres } from '../../servers/postgres.js';
import { startRedis } from '../../servers/redis.js';
import { provesNothingIsLost } from './archive.js';
import { openStage } from '../../gateway/archive/stage.js';

t.setTimeout(170_000);
t.test('Redis, to PostgreSQL', async (t) => {
  const [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
  t.teardown(() => Promise.all([redis.stop(), postgres.stop()]));
  await provesNothingIsLost(t, await openStage(t, redis.url, await postgres.createDatabase('ledger')));
});
