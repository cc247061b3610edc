import t from 'tap';
import type { Test } from 'tap';
import { checkHonest, codeOf } from '../../answers/honest.js';
import { startGateway } from '../../servers/gateway.js';
import { exchangeRaw, type RawAnswer } from '../../servers/raw.js';
import { redisFor } from '../../servers/redis.js';
import { until } from '../../servers/until.js';
import { startUpstream } from '../../servers/upstream.js';

const ban = { after: 3 };
const PLANS = {
  tiny: { limits: { minute: 5, day: 1000 }, ban },
  enterprise: { limits: 'custom', ban },
  anonymous: { limits: { minute: 1000, day: 10_000 }, ban },
};
interface Own {
  readonly plan: string;
  readonly windows: Readonly<Record<'minute' | 'day', { limit: number | string; remaining: number; reset: number }>>;
  readonly today: object;
  readonly month: object;
  readonly ban: { until: number; level: number } | null;
}

t.test('embedded', (t) => ownUsage(t, {}));
t.test('redis', async (t) => {
  const redis = await redisFor(t);
  await ownUsage(t, { REDIS_URL: redis.url });
});

async function ownUsage(t: Test, environment: Readonly<Record<string, string>>): Promise<void> {
  const upstream = await startUpstream(t);
  const gateway = await startGateway(t, {
    plans: PLANS,
    config: { store: { deadline: '10s' } },
    environment: { ...environment, PETS_URL: upstream.url },
  });
  const { id, key } = await gateway.createKey({ plan: 'tiny' });
  const get = async (path: string, with_ = key): Promise<RawAnswer> =>
    (
      await exchangeRaw(
        gateway.port,
        `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${with_}\r\nConnection: close\r\n\r\n`,
        1,
      )
    )[0]!;
  const own = async (): Promise<Own> => {
    const answer = await get('/v1/usage');
    t.equal(answer.status, 200);
    checkHonest(t, answer, 'own usage');
    return JSON.parse(answer.body) as Own;
  };

  t.match(await own(), {
    plan: 'tiny',
    windows: { minute: { limit: 5, remaining: 5 }, day: { limit: 1000, remaining: 1000 } },
    today: { requests: 0 },
    month: { requests: 0 },
    ban: null,
  });
  for (let n = 0; n < 3; n += 1) await get('/v1/pets');
  await get('/v1/nothing');
  const four = { requests: 4, units: 4, returned: 0, limited: 0, banned: 0, failed: 0 };
  for (let n = 0; n < 2; n += 1) {
    const seen = await own();
    t.match(seen, { windows: { minute: { remaining: 1 }, day: { remaining: 996 } } }, 'asking took no token');
    t.same([seen.today, seen.month], [four, four], 'and is not counted');
    t.ok(seen.windows.minute.reset > Date.now() / 1000 - 1 && seen.windows.minute.reset <= Date.now() / 1000 + 61);
    t.equal(seen.windows.day.reset % 86_400, 0);
  }
  upstream.handle = (_seen, response) => response.writeHead(500).end();
  await get('/v1/pets');
  for (let n = 0; n < 2; n += 1) t.equal((await get('/v1/pets')).status, 429);
  await until('the failure is counted', async () => {
    const seen = await own();
    t.equal(seen.ban, null);
    t.match(seen.windows.minute, { remaining: 0 }, 'it answers while the key is limited');
    return (
      JSON.stringify(seen.today) ===
      JSON.stringify({ requests: 5, units: 5, returned: 0, limited: 2, banned: 0, failed: 1 })
    );
  });
  const bannedSince = Date.now() / 1000;
  t.equal(codeOf(await get('/v1/pets')), 'key_banned');
  const banned = await own();
  t.match(banned.ban, { level: 1 }, 'it answers while the key is banned');
  t.ok(banned.ban!.until >= bannedSince + 299 && banned.ban!.until <= Date.now() / 1000 + 301);
  t.match(banned.today, { requests: 5, units: 5, returned: 0, limited: 2, banned: 1 });

  const flood = await Promise.all(Array.from({ length: 60 }, () => get('/v1/usage')));
  const refused = flood.filter(({ status }) => status === 429);
  t.ok(refused.length >= 30, 'a flood is refused', { refused: refused.length });
  for (const answer of refused.slice(0, 3)) {
    checkHonest(t, answer, 'too often');
    t.equal(codeOf(answer), 'rate_limited');
    t.equal(answer.headers.get('retry-after'), '1');
  }
  const other = await gateway.createKey({ plan: 'enterprise', limits: { minute: 7, day: 'unlimited' } });
  const others = await get('/v1/usage', other.key);
  t.match(
    JSON.parse(others.body),
    {
      plan: 'enterprise',
      windows: { minute: { limit: 7, remaining: 7 }, day: { limit: 'unlimited', remaining: Number.MAX_SAFE_INTEGER } },
    },
    'another key is not held up',
  );
  const endS = Math.ceil(Date.now() / 1000) + 3_600;
  const grant = { window: 'minute', units: 3, until: endS * 1000 };
  await gateway.admin('POST', `/admin/v1/keys/${other.id}/grants`, grant);
  const { windows } = JSON.parse((await get('/v1/usage', other.key)).body) as Own;
  t.match(windows.minute, { limit: 10, remaining: 10, granted: { units: 3, until: endS } });
  t.notOk('granted' in windows.day);
  await until('the wait told was honest', async () => (await get('/v1/usage')).status === 200);
  t.equal((await get('/v1/usage', 'nonsense')).status, 401);
  const { body } = await gateway.admin('GET', `/admin/v1/usage?by=operation&key=${id}`);
  t.same(
    (body as { rows: { operation: string }[] }).rows.map(({ operation }) => operation),
    ['listPets', 'unmatched'],
    'nothing of it stands in the ledger',
  );
}
