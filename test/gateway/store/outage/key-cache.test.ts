import t from 'tap';
import { ask, change, newKey, type Actor } from '../../../conformance/cast.js';
import { openStores } from '../../../../src/gateway/store/embedded/owner/stores.js';
import { KeyCache } from '../../../../src/gateway/store/outage/key-cache.js';
import { until } from '../../../servers/until.js';
import { durableRedis, learnt, MAP_BYTES, openGateway, redisOf, snapshotRedis } from './fixture.js';

const HOUR_MS = 3_600_000;
const KEYS = 40;

t.test('after the clock of a gateway was set back its copies go on following revocations', async (t) => {
  const server = await durableRedis(t);
  const [here, there] = [openGateway(t, server).engine, openGateway(t, server).engine];
  const keys = [await newKey(there, 'free'), await newKey(there, 'free')] as const;
  for (const key of keys) await ask(here, key, Date.now(), { cost: 0 });
  await learnt(here, ...keys);
  const { now } = Date;
  t.teardown(() => (Date.now = now));
  Date.now = () => now() - HOUR_MS;
  await change(there, keys[0], { status: 'revoked', secrets: [] });
  await until('the copy says so', () => here.cached(keys[0].id)?.record.status === 'revoked');
  t.equal(here.cached(keys[1].id)?.record.status, 'enabled', 'the others are as good as before');
  Date.now = () => now() - 25 * HOUR_MS;
  t.equal(here.cached(keys[1].id), undefined, 'a copy from the future is not good for ever');
});

t.test('a gateway knows keys only while it has a copy that it may decide by', async (t) => {
  const { engine } = openGateway(t, await durableRedis(t));
  t.notOk(engine.failover.knowsKeys(), 'before it saw any');
  const key = await newKey(engine, 'free');
  await ask(engine, key, Date.now(), { cost: 0 });
  await learnt(engine, key);
  t.ok(engine.failover.knowsKeys());
  const { now } = Date;
  t.teardown(() => (Date.now = now));
  Date.now = () => now() + 25 * HOUR_MS;
  t.notOk(engine.failover.knowsKeys(), 'a day later');
});

t.test('a record is read when it is new or another than the copy, and once an hour', async (t) => {
  const server = await durableRedis(t);
  const first = openGateway(t, server, { maintains: false });
  const keys: Actor[] = [];
  while (keys.length < KEYS) keys.push(await newKey(first.engine, 'free'));
  const reads = async (): Promise<number> =>
    Number(/cmdstat_hgetall:calls=(\d+)/.exec(String(await server.command('INFO', 'commandstats')))?.[1] ?? 0);
  const askAll = async (engine: typeof first.engine): Promise<void> => {
    for (const key of keys)
      await until('it is served', async () => (await ask(engine, key, Date.now(), { cost: 0 })).outcome === 'admitted');
  };
  await askAll(first.engine);
  await learnt(first.engine, ...keys);
  t.equal(await reads(), KEYS, 'once for each key');
  await first.engine.close();

  // Each start meets all keys again.
  const again = openGateway(t, server, { maintains: false, folder: first.folder });
  await askAll(again.engine);
  const changed = keys[0]!;
  await again.engine.keys.write(
    { ...changed.record, scopes: ['pets:read'], version: changed.record.version + 1 },
    { atMs: 0, action: 'changed', changed: {} },
  );
  await until(
    'its copy is the new one',
    () => again.engine.cached(changed.id)?.record.version === changed.record.version + 1,
  );
  await ask(again.engine, changed, Date.now(), { cost: 0 });
  t.equal(await reads(), KEYS + 1, 'and no other');
  await again.engine.close();

  const later = openGateway(t, server, { maintains: false, folder: first.folder });
  const { now } = Date;
  t.teardown(() => (Date.now = now));
  Date.now = () => now() + HOUR_MS;
  await askAll(later.engine);
  await until('the copies are new ones', () =>
    keys.every(({ id }) => later.engine.cached(id)!.seenAtMs > now() + HOUR_MS / 2),
  );
  t.equal(await reads(), 2 * KEYS + 1, 'all of them once an hour');
});

t.test('a change that cannot be read ends what a copy decides, and not what it proves', async (t) => {
  const server = await snapshotRedis(t);
  const { engine, folder } = openGateway(t, server);
  const key = await newKey(engine, 'free');
  await ask(engine, key, Date.now(), { cost: 0 });
  await server.command('SAVE');
  await change(engine, key, { status: 'revoked', secrets: [] });
  await learnt(engine, key);
  await engine.close();

  const stores = openStores({ folder, mapBytes: MAP_BYTES });
  const redis = redisOf(server);
  t.teardown(() => Promise.all([redis.close(), stores.close()]));
  const cache = new KeyCache(stores, redis, Date.now);
  await server.kill();
  await cache.changed([key.id]);
  t.equal(cache.key(key.id), undefined, 'nobody knows what it is now');
  await server.restart();
  await until('Redis has the older record', async () => (await redis.keys.read(key.id))?.status === 'enabled');
  t.strictSame(await cache.older([key.id]), [key.id]);
});
