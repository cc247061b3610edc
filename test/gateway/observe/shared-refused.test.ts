import t from 'tap';
import { refusedElsewhere, shareRefused } from '../../../src/gateway/observe/shared-refused.js';
import { redisEngineFor } from '../../conformance/redis-engine.js';
import { ADMIN_TOKEN, startGateway } from '../../servers/gateway.js';
import { startRedis } from '../../servers/redis.js';
import { until } from '../../servers/until.js';
import { visitorOf } from '../console/visitor.js';

const MINUTE_MS = 60_000;
const COUNT = { keyId: 'abc', address: null, status: 429, code: 'limit_reached', latest: 3, hour: 5 };

t.test('a gateway learns whom the others refused lately, each once, and not of itself', async (t) => {
  const { engine } = await redisEngineFor(t);
  const [one, other] = [engine.fleet.notes('one'), engine.fleet.notes('other')];
  await shareRefused(one, [COUNT], 0);
  await shareRefused(one, [{ ...COUNT, latest: 4 }], MINUTE_MS);
  t.strictSame(await refusedElsewhere(other, MINUTE_MS), [{ ...COUNT, latest: 4 }]);
  t.strictSame(await refusedElsewhere(one, MINUTE_MS), []);
  t.strictSame(await refusedElsewhere(other, 5 * MINUTE_MS), [], 'it is gone');
  await one.write('refused:1', '[{"of":"another version"}]', MINUTE_MS);
  t.strictSame(await refusedElsewhere(other, MINUTE_MS), []);
});

t.test('Most refused names whom any gateway on the store refused', async (t) => {
  const redis = await startRedis();
  t.teardown(() => redis.stop());
  const environment = { REDIS_URL: redis.url };
  const [one, other] = [await startGateway(t, { environment }), await startGateway(t, { environment })];
  await fetch(`${one.url}/v1/pets`, { headers: { authorization: 'Bearer nonsense' } });
  const visitor = visitorOf(Number(new URL(one.adminUrl).port));
  await visitor.signIn(ADMIN_TOKEN);
  await until('the other names it', async () => {
    await visitor.get('/console/live');
    const { body } = await other.admin('GET', '/admin/v1/refused');
    return (body as { refused: { code: string }[] }).refused.some(({ code }) => code === 'invalid_api_key');
  });
});
