import t from 'tap';
import type { Test } from 'tap';
import type { RedisEngine } from '../../../../../src/gateway/store/redis/engine.js';
import { keyName } from '../../../../../src/gateway/store/redis/keyspace/names.js';
import { ask, change, newKey, NOON_MS, type Actor } from '../../../../conformance/cast.js';
import { redisEngineFor } from '../../../../conformance/redis-engine.js';
import type { RedisServer } from '../../../../servers/redis.js';
import { byName } from '../../../admission/verdict.js';

const SCOPED = { operation: 'listPets', scope: 'pets:read' };

async function setUp(
  t: Test,
): Promise<{ server: RedisServer; engine: RedisEngine; field: (key: Actor, name: string) => Promise<unknown> }> {
  const { redis: server, engine } = await redisEngineFor(t);
  await engine.check();
  return { server, engine, field: (key, name) => server.command('HGET', keyName(key.id), name) };
}

t.test('the first request that costs makes the summary, and each change of the record makes it anew', async (t) => {
  const { engine, field } = await setUp(t);
  const key = await newKey(engine, 'free', { scopes: ['pets:read', 'pets:write'] });
  await ask(engine, key, NOON_MS, { ...SCOPED, cost: 0 });
  t.equal(await field(key, 'summary'), null, 'looking writes nothing');
  await ask(engine, key, NOON_MS, SCOPED);
  const first = await field(key, 'summary');
  t.type(first, 'string');
  await ask(engine, key, NOON_MS, SCOPED);
  t.equal(await field(key, 'summary'), first, 'it stays');
  await change(engine, key, { scopes: ['pets:write'] });
  t.match(
    await ask(engine, key, NOON_MS, SCOPED),
    { outcome: 'admitted', inScope: false },
    'what changed holds at once',
  );
  t.not(await field(key, 'summary'), first);
});

t.test('a record that an earlier version writes, which knows of no summary, holds at once', async (t) => {
  const { server, engine } = await setUp(t);
  const key = await newKey(engine, 'free');
  const write = (...fields: readonly string[]): Promise<unknown> => server.command('HSET', keyName(key.id), ...fields);
  t.match(await ask(engine, key, NOON_MS), { plan: 'free' });
  await write('plan', 'enterprise', 'minute', 'unlimited', 'day', '7', 'version', '2');
  t.match(byName(await ask(engine, key, NOON_MS)), {
    outcome: 'admitted',
    plan: 'enterprise',
    windows: { minute: { limit: 'unlimited' }, day: { limit: 7, remaining: 5 } },
    recordVersion: 2,
  });
  await write('expires', String(NOON_MS), 'version', '3');
  t.match(await ask(engine, key, NOON_MS), { outcome: 'unknown_key', reason: 'expired' });
  t.match(await ask(engine, key, NOON_MS - 1), { outcome: 'admitted', recordVersion: 3 });
  await write('status', 'revoked', 'version', '4');
  t.match(await ask(engine, key, NOON_MS - 1), { outcome: 'unknown_key', reason: 'revoked' });
});

t.test('what earlier versions read stays as it was', async (t) => {
  const { server, engine, field } = await setUp(t);
  const key = await newKey(engine, 'free', { scopes: ['pets:read', 'pets:write'] });
  const before = (await server.command('HGETALL', keyName(key.id))) as string[];
  await ask(engine, key, NOON_MS, SCOPED);
  const after = (await server.command('HGETALL', keyName(key.id))) as string[];
  t.same(after.slice(0, before.length), before, 'all fields of the record');
  t.same(
    after.slice(before.length).filter((_, n) => n % 2 === 0),
    ['state', 'summary', 'days'],
  );
  t.equal(await server.command('HSTRLEN', keyName(key.id), 'state'), 64);
  t.equal(await server.command('OBJECT', 'ENCODING', keyName(key.id)), 'listpack', 'the hash stays compact');
  t.equal(await field(key, 'plan'), 'free');
});

t.test('a batch of more operations than fit into one byte', async (t) => {
  const { engine } = await setUp(t);
  const key = await newKey(engine, 'open', { scopes: ['scope200'] });
  const verdicts = await engine.admit(
    Array.from({ length: 250 }, (_, n) => ({
      subject: key.subject,
      operation: `operation${n}`,
      scope: `scope${n}`,
      cost: 1 as const,
    })),
  );
  t.same(
    verdicts.flatMap((verdict, n) => (verdict.outcome === 'admitted' && verdict.inScope ? [n] : [])),
    [200],
  );
  const today = new Date(verdicts.map((verdict) => ('atMs' in verdict ? verdict.atMs : 0))[0]!)
    .toISOString()
    .slice(0, 10);
  const operations: string[] = [];
  for await (const rows of engine.usage.rows(today, today, key.id))
    operations.push(...rows.map(({ operation }) => operation));
  t.same(
    operations.toSorted(),
    Array.from({ length: 250 }, (_, n) => `operation${n}`).toSorted(),
    'each is counted under its name',
  );
});
