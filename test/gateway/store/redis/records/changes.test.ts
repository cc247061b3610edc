import t from 'tap';
import type { Test } from 'tap';
import type { RedisEngine } from '../../../../../src/gateway/store/redis/engine.js';
import { CHANGES } from '../../../../../src/gateway/store/redis/keyspace/names.js';
import { redisEngineFor } from '../../../../conformance/redis-engine.js';
import type { RedisServer } from '../../../../servers/redis.js';

async function setUp(t: Test): Promise<{ server: RedisServer; engine: RedisEngine }> {
  const { redis: server, engine } = await redisEngineFor(t);
  await engine.check();
  return { server, engine };
}

/** Puts `count` entries into the log, all of one moment. */
async function change(server: RedisServer, name: string, count: number, atMs: number): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, (_, n) => `${name}${n}`);
  await server.command('ZADD', CHANGES, ...ids.flatMap((id) => [atMs, id]));
  return ids;
}

/** Reads page after page; every id as often as it was told. */
async function readAll(t: Test, engine: RedisEngine, sinceMs: number): Promise<readonly string[]> {
  const told: string[] = [];
  let from = sinceMs;
  for (let page = 1, isMore = true; isMore; page += 1) {
    t.ok(page <= 5, 'reading ends');
    const changed = await engine.fleet.changedSince(from);
    t.ok(changed.untilMs > from, 'and gets on with every page');
    told.push(...changed.ids);
    ({ untilMs: from, isMore } = changed);
  }
  return told;
}

t.test('more changes in one millisecond than a page holds are all told, once each', async (t) => {
  const { server, engine } = await setUp(t);
  const atMs = Date.now() - 1_000;
  const ids = [
    ...(await change(server, 'before', 300, atMs - 1)),
    ...(await change(server, 'within', 1_200, atMs)),
    ...(await change(server, 'after', 300, atMs + 1)),
  ];
  const told = await readAll(t, engine, 0);
  const known = new Set(told);
  t.same([told.length, known.size, ids.filter((id) => !known.has(id)).length], [ids.length, ids.length, 0]);
  t.equal((await readAll(t, engine, atMs)).length, 300, 'what was told up to a moment is not told again');
});

t.test('a page that ends with its moment is not longer than it has to be', async (t) => {
  const { server, engine } = await setUp(t);
  const atMs = Date.now() - 1_000;
  for (let n = 0; n < 3; n += 1) await change(server, `moment${n}:`, 250, atMs + n);
  t.match(await engine.fleet.changedSince(0), { ids: { length: 500 }, untilMs: atMs + 1, isMore: true });
  t.match(await engine.fleet.changedSince(atMs + 1), { ids: { length: 250 }, isMore: false });
});
