import t from 'tap';
import { startGateway, ADMIN_TOKEN } from '../servers/gateway.js';
import { NO_BAN } from '../servers/plans.js';
import { redisFor } from '../servers/redis.js';
import { startUpstream } from '../servers/upstream.js';
import { until } from '../servers/until.js';
import { dataFolder, petgate, surroundings, type Finished } from './programs.js';

const PLANS = {
  free: { limits: { minute: 1, day: 1000 }, ban: NO_BAN },
  anonymous: { limits: { minute: 1000, day: 1000 }, ban: NO_BAN },
};

t.test('petgate why says who was refused by which window, and which other gateways there are', async (t) => {
  const redis = await redisFor(t);
  const upstream = await startUpstream(t);
  const environment = { PETS_URL: upstream.url, REDIS_URL: redis.url };
  const gateway = await startGateway(t, { plans: PLANS, environment });
  const folder = dataFolder(t);
  const why = (...args: readonly string[]): Promise<Finished> =>
    petgate(
      ['why', ...args],
      surroundings(folder, { ADMIN_PORT: new URL(gateway.adminUrl).port, PETGATE_ADMIN_TOKEN: ADMIN_TOKEN }),
    );
  const { id, key } = await gateway.createKey({ plan: 'free', name: 'Shop' });
  const get = async (request: string): Promise<number> =>
    (
      await fetch(`${gateway.url}/v1/pets?token=a-secret`, {
        headers: { authorization: `Bearer ${key}`, 'x-request-id': request },
      })
    ).status;
  t.strictSame([await get('first'), await get('second')], [200, 429]);
  const { code, stdout } = await why('second');
  t.equal(code, 0);
  t.match(stdout, /^GET listPets {2}429 {2}rate_limited\nwhy +The rate limit "minute"/);
  t.match(stdout, new RegExp(`\\nwho +key ${id} "Shop" from 127.0.0.1 on plan free\\n`));
  t.match(stdout, /\nverdict +limited by minute; could pass at \S+\n/);
  t.match(stdout, /\nwindows +minute 0 of 1 left, whole at \S+; day 999 of 1000 left, whole at \S+\n/);
  t.match(stdout, /\nunits +1, not taken\n/);
  t.notMatch(stdout, 'a-secret');
  t.match((await why('first')).stdout, /^GET listPets {2}200\nrequest +first\n[^]*\nunits +1, taken\n.*upstream pets/m);
  t.match(JSON.parse((await why('--key', id, '--json')).stdout), { exchanges: [{ request: 'second', name: 'Shop' }] });
  const second = await startGateway(t, { plans: PLANS, environment });
  await until('the store has heard of both', async () => {
    const { gateways } = JSON.parse((await why('first', '--json')).stdout) as { gateways: readonly object[] };
    return gateways.length === 1;
  });
  t.match((await why('first')).stdout, /Each gateway remembers its own: 1 more, on /);
  t.match(await why('never'), { code: 1, stderr: /does not remember that request.*\nEach gateway remembers/s });
  t.match(await why(), { code: 2, stderr: /Give a request id, or --key/ });
  t.match(await why('first', '--key', id), { code: 2 });
  t.match(await why(key), { code: 2, stderr: /This is a whole key/ });
  await second.program.stop('SIGKILL');
  await redis.stop();
  t.match(JSON.parse((await why('second', '--json')).stdout), { exchanges: [{ request: 'second' }], gateways: null });
});
