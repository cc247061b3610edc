import t from 'tap';
import type { Test } from 'tap';
import { knownStoreIn } from '../../../../../src/gateway/store/known-store.js';
import { openRedisEngine, type RedisEngine } from '../../../../../src/gateway/store/redis/engine.js';
import { ask, newKey, NOON_MS, PLANS } from '../../../../conformance/cast.js';
import { startCluster, startRedis, type RedisServer } from '../../../../servers/redis.js';
import { until } from '../../../../servers/until.js';
import { tempFolder } from '../../embedded/fixture.js';

async function redisOf(t: Test, config: readonly string[] = []): Promise<RedisServer> {
  const server = await startRedis({ config });
  t.teardown(() => server.stop());
  return server;
}

/** A gateway's engine that knows what stands in `folder`. */
function engineOn(
  t: Test,
  { url }: { readonly url: string },
  folder = tempFolder(t),
  archived?: () => Promise<string | null>,
  environment?: string,
): RedisEngine {
  const known = knownStoreIn(folder, archived);
  const own = environment === undefined ? {} : { environment };
  const engine = openRedisEngine({ url, deadlineMs: 1_000, plans: PLANS, usageDays: 400, known, ...own });
  t.teardown(() => engine.close());
  return engine;
}

const believed = (engine: RedisEngine): Promise<void> =>
  until('the store is believed', async () => (await engine.check(), engine.trust.replaced() === null));
const doubted = (engine: RedisEngine): Promise<void> =>
  until('the store is not believed', async () => {
    await engine.check().catch(() => undefined);
    return engine.trust.replaced() !== null;
  });

t.test('a store gets one id, whoever comes first; one with data and without an id too', async (t) => {
  const server = await redisOf(t);
  await server.command('SET', 'petgate:old', 'data of a version that knew no id');
  const folders = [1, 2, 3, 4].map(() => tempFolder(t));
  const engines = folders.map((folder) => engineOn(t, server, folder));
  await Promise.all(engines.map((engine) => engine.check()));
  const id = await server.command('HGET', 'petgate:store', 'id');
  t.match(id, /^[0-9a-f]{24}$/);
  t.strictSame(
    folders.map((folder) => knownStoreIn(folder).read()),
    [id, id, id, id],
  );
});

t.test('another store is refused, and one acceptance brings all gateways of the old one along', async (t) => {
  const [old, other] = [await redisOf(t), await redisOf(t)];
  const folders = [tempFolder(t), tempFolder(t)];
  await Promise.all(folders.map((folder) => engineOn(t, old, folder).check()));
  const native = engineOn(t, other);
  await native.check();
  const engines = folders.map((folder) => engineOn(t, other, folder));
  await Promise.all(engines.map(doubted));
  await t.rejects(engines[0]!.check(), /petgate store accept/);
  await t.rejects(ask(engines[0]!, await newKey(native, 'free'), NOON_MS), { name: 'StoreUnavailable' });
  const before = await other.command('HGET', 'petgate:store', 'id');
  t.equal(await engines[0]!.trust.accept(), before, 'the store keeps its id');
  await Promise.all(engines.map(believed));
  await believed(native);
  t.same(
    folders.map((folder) => knownStoreIn(folder).read()),
    [before, before],
  );
});

t.test('an empty one gets the old id by acceptance, so that nobody else notices', async (t) => {
  const server = await redisOf(t);
  const engines = [engineOn(t, server), engineOn(t, server)];
  await Promise.all(engines.map((engine) => engine.check()));
  const id = await server.command('HGET', 'petgate:store', 'id');
  await server.command('FLUSHALL');
  await Promise.all(engines.map(doubted));
  t.equal(await engines[0]!.trust.accept(), id);
  await Promise.all(engines.map(believed));
});

t.test('an empty one is no first start where the archive knows a store, or does not say whether it does', async (t) => {
  const server = await redisOf(t);
  const known = 'a'.repeat(24);
  const folder = tempFolder(t);
  let archived = (): Promise<string | null> => Promise.reject(new Error('no route to the archive'));
  const engine = engineOn(t, server, folder, () => archived());
  await doubted(engine);
  t.match(engine.trust.replaced(), /no route to the archive/);
  archived = () => Promise.resolve(known);
  await until('it is known', async () => {
    await engine.check().catch(() => undefined);
    return engine.trust.replaced()?.includes(`not ${known}`) === true;
  });
  t.equal(await server.command('EXISTS', 'petgate:store'), 0);
  t.equal(await engine.trust.accept(), known, 'accepted it is that store');
  await believed(engine);
  // One that has data is believed without the archive: a new gateway does not wait for PostgreSQL.
  archived = () => Promise.reject(new Error('no route to the archive'));
  await believed(engineOn(t, server, tempFolder(t), () => archived()));
});

t.test('a mark that was evicted is set again, as long as others of its node are there', async (t) => {
  const server = await redisOf(t);
  const folder = tempFolder(t);
  const engine = engineOn(t, server, folder);
  await engine.check();
  const id = knownStoreIn(folder).read();
  const marks = (await server.command('KEYS', 'petgate:{*}:store')) as string[];
  t.equal(marks.length, 64);
  for (const evicted of [marks.slice(0, 60), ['petgate:store', ...marks.slice(1)]]) {
    await server.command('DEL', ...evicted);
    for (const other of [engine, engineOn(t, server, folder)])
      await until('all are there again', async () => {
        await other.check();
        t.equal(other.trust.replaced(), null);
        return Number(await server.command('EXISTS', 'petgate:store', ...marks)) === 65;
      });
  }
  t.equal(await server.command('HGET', 'petgate:store', 'id'), id);
  await server.command('DEL', 'petgate:store', ...marks);
  await doubted(engine);
});

t.test('a lost connection is reason to ask: no call reaches a Redis that lost its data meanwhile', async (t) => {
  const server = await redisOf(t);
  const engine = engineOn(t, server);
  const key = await newKey(engine, 'free');
  t.equal((await ask(engine, key, NOON_MS)).outcome, 'admitted');
  for (let round = 0; round < 5; round += 1) {
    await server.kill();
    await server.restart();
    await t.rejects(ask(engine, key, NOON_MS), { name: 'StoreUnavailable' });
  }
});

t.test('who says that a key is unknown shows first whose data it has', async (t) => {
  const server = await redisOf(t);
  const engine = engineOn(t, server);
  const key = await newKey(engine, 'free');
  await server.command('DEL', `petgate:{${key.id}}:key`);
  t.match(await ask(engine, key, NOON_MS), { outcome: 'unknown_key' }, 'of the right store it is believed');
  await server.command('FLUSHALL');
  await t.rejects(ask(engine, key, NOON_MS), { name: 'StoreUnavailable' });
  t.match(engine.trust.replaced(), /no id/);
});

t.test('in a Cluster every master has the id, also where a slot moved and where a start was cut off', async (t) => {
  const cluster = await startCluster();
  t.teardown(() => cluster.stop());
  const folder = tempFolder(t);
  const first = engineOn(t, cluster, folder);
  await first.check();
  const id = knownStoreIn(folder).read();
  t.ok(id);
  for (const master of cluster.masters) {
    const marks = ((await master.command('KEYS', 'petgate:{*}:store')) as string[]).length;
    t.ok(marks >= 20 && marks <= 22, 'a third of the marks each', { marks });
  }
  await first.close();
  // As a gateway leaves it that is killed between the first mark and the others.
  for (const master of cluster.masters)
    for (const mark of (await master.command('KEYS', 'petgate:{*}:store')) as string[])
      await master.command('DEL', mark);
  for (const master of cluster.masters)
    if (((await master.command('KEYS', 'petgate:store')) as string[]).length > 0)
      await master.command('HDEL', 'petgate:store', 'marked');
  const second = engineOn(t, cluster);
  for (let n = 0; n < 9; n += 1) await newKey(second, 'free');
  t.equal(second.trust.replaced(), null);
  t.equal(await second.trust.accept(), id, 'what is in order stays so');
});

t.test(
  'a store is marked with its format; one of a later version is refused, and no acceptance changes that',
  async (t) => {
    const server = await redisOf(t);
    const folder = tempFolder(t);
    await engineOn(t, server, folder).check();
    t.equal(await server.command('HGET', 'petgate:store', 'format'), '1');
    const corrected = engineOn(t, server, folder);
    const { id } = await newKey(corrected, 'free');
    const record = (await corrected.keys.read(id))!;
    const entry = { atMs: NOON_MS, action: 'corrected', changed: {} } as const;
    await corrected.keys.write({ ...record, version: record.version + 1 }, entry);
    t.equal(await server.command('HGET', 'petgate:store', 'format'), '2', 'since the first correction');
    await believed(engineOn(t, server, folder));
    await server.command('HSET', 'petgate:store', 'format', '3');
    const engine = engineOn(t, server, folder);
    await doubted(engine);
    await t.rejects(engine.check(), /format 3, .* does not know/);
    await t.rejects(engine.trust.accept(), /format 3/);
    await t.rejects(engine.check(), /format 3/);
  },
);

t.test('a store of 0.2, which has no format, is refused, and nobody can accept it', async (t) => {
  const server = await redisOf(t);
  const folder = tempFolder(t);
  await engineOn(t, server, folder).check();
  await server.command('HDEL', 'petgate:store', 'format');
  const engine = engineOn(t, server, tempFolder(t));
  await doubted(engine);
  await t.rejects(engine.check(), /version 0\.2 .* start 0\.3 on it first/);
  await t.rejects(engine.trust.accept(), /start 0\.3/);
});

t.test('a store belongs to the environment that used it first, and to another once it is moved over', async (t) => {
  const cluster = await startCluster();
  t.teardown(() => cluster.stop());
  for (const server of [await redisOf(t), cluster]) {
    const of = (environment?: string): RedisEngine => engineOn(t, server, tempFolder(t), undefined, environment);
    const before = of();
    await before.check();
    const developed = of('development');
    await developed.check();
    const staged = of('staging');
    await doubted(staged);
    t.match(staged.trust.replaced(), /"development", .* runs "staging".* --environment staging"/);
    await t.rejects(staged.keys.page(null, 10), { name: 'StoreUnavailable' });
    await t.rejects(newKey(staged, 'free'), { name: 'StoreUnavailable' });
    await t.rejects(staged.trust.accept(), /development/, 'nobody moves it by the way');
    await staged.trust.accept(true);
    await believed(staged);
    await believed(before);
    await doubted(developed);
    t.match(developed.trust.replaced(), /"staging", .* runs "development"/);
    await Promise.all([before, developed, staged].map((engine) => engine.close()));
  }
});

t.test('changes that take nothing away may be lost for a minute; a revocation never', async (t) => {
  const server = await redisOf(t);
  const folder = tempFolder(t);
  const engine = engineOn(t, server, folder);
  const { id } = await newKey(engine, 'free');
  const changed = async (changes: Readonly<Record<string, unknown>>): Promise<void> => {
    const record = (await engine.keys.read(id))!;
    await engine.keys.write(
      { ...record, ...changes, version: record.version + 1 },
      { atMs: NOON_MS, action: 'changed', changed: changes },
    );
  };
  const counts = async (): Promise<unknown> => server.command('HMGET', 'petgate:store', 'changes', 'restrictions');
  await changed({ note: 'one' });
  await changed({ note: 'two' });
  t.strictSame(await counts(), ['2', '0']);
  await until('it saw them', () => engine.check().then(() => true));
  await server.command('HINCRBY', 'petgate:store', 'changes', '-1');
  await believed(engineOn(t, server, folder));
  await changed({ status: 'disabled' });
  t.strictSame(await counts(), ['2', '1']);
  await server.command('HDEL', 'petgate:store', 'restrictions');
  await doubted(engine);
  await doubted(engineOn(t, server, tempFolder(t)));
  await engine.trust.accept();
  await believed(engine);
  await believed(engineOn(t, server, folder));
  t.equal(await server.command('HGET', 'petgate:store', 'accepted'), '1');
});
