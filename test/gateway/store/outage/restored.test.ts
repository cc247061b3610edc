import t from 'tap';
import type { FailoverEngine } from '../../../../src/gateway/store/outage/engine.js';
import { ask, change, changeCustomer, keyOf, newCustomer, newKey, type Actor } from '../../../conformance/cast.js';
import { startCluster, type RedisServer } from '../../../servers/redis.js';
import { until } from '../../../servers/until.js';
import { isUnavailable, learnt, openGateway, snapshotRedis } from './fixture.js';

const outcome = async (engine: FailoverEngine, key: Actor): Promise<string> =>
  ask(engine, key, Date.now()).then(
    (verdict) => (verdict.outcome === 'unknown_key' ? verdict.reason : verdict.outcome),
    () => 'unavailable',
  );

async function restored(server: RedisServer): Promise<void> {
  await server.kill();
  await server.restart();
}

t.test('a plan that a failover lost a moment after its change is written back, and nobody is needed', async (t) => {
  const server = await snapshotRedis(t);
  const { engine, redis } = openGateway(t, server);
  const key = await newKey(engine, 'free', { name: 'Ada' });
  t.equal(await outcome(engine, key), 'admitted');
  await server.command('SAVE');
  await change(engine, key, { plan: 'pro' });
  await learnt(engine, key);
  await restored(server);
  await until('it has the plan', async () => {
    const verdict = await ask(engine, key, Date.now()).catch(() => undefined);
    t.equal(engine.trust?.replaced(), null);
    return !isUnavailable(engine) && verdict?.outcome === 'admitted' && verdict.plan === 'pro';
  });
  t.match(await redis.keys.read(key.id), { plan: 'pro', name: 'Ada' });
  t.match((await redis.keys.history(key.id)).at(-1), {
    action: 'changed',
    actor: 'petgate',
    changed: { plan: { from: 'free', to: 'pro' } },
  });
});

t.test('a copy that is newer proves it too, and no request is decided by the older record', async (t) => {
  const server = await snapshotRedis(t);
  const here = openGateway(t, server);
  const customer = await newCustomer(here.engine, 'free');
  const [key, other] = [await newKey(here.engine, 'free'), await keyOf(here.engine, customer.id)];
  for (const each of [key, other]) t.equal(await outcome(here.engine, each), 'admitted');
  await until('the customer is copied', () => here.engine.cached(customer.id) !== undefined);
  await server.command('SAVE');
  await change(here.engine, key, { status: 'revoked', secrets: [] });
  await changeCustomer(here.engine, customer, { status: 'disabled' });
  await learnt(here.engine, key);
  await here.engine.close();
  for (const [each, reason] of [[key, 'revoked'] as const, [other, 'disabled'] as const]) {
    await restored(server);
    // It has the copies, and does not know what Redis had counted.
    const again = openGateway(t, server, { folder: here.folder });
    await until('Redis is there', async () => (await again.redis.check(), true));
    const first = await outcome(again.engine, each);
    t.ok(first === 'unavailable' || first === reason, 'never by the older record', { found: first });
    // The copies may have been written back before a request found Redis to be older.
    const isWrittenBack = async (): Promise<boolean> =>
      !isUnavailable(again.engine) && (await outcome(again.engine, each)) === reason;
    await until('it is distrusted, or has what was newer', async () => {
      const why = again.engine.trust?.replaced() ?? '';
      return (isUnavailable(again.engine) && why.includes('restored to an older state')) || (await isWrittenBack());
    });
    t.equal(await outcome(again.engine, each), reason);
    await again.engine.close();
  }
});

t.test('an import of what was exported before brings no revoked key back', async (t) => {
  const server = await snapshotRedis(t);
  const { engine, redis } = openGateway(t, server);
  const key = await newKey(engine, 'free');
  t.equal(await outcome(engine, key), 'admitted');
  const exported = await engine.keys.snapshots(null, 10, '2026-11-01');
  await change(engine, key, { status: 'revoked', secrets: [] });
  await learnt(engine, key);
  await server.command('FLUSHALL');
  await until('it is refused', () => engine.trust?.replaced() !== null);
  await engine.trust!.accept();
  await until('it decides', () => !isUnavailable(engine));
  t.strictSame(await engine.keys.restore(exported), ['added']);
  t.match(await redis.keys.read(key.id), { status: 'revoked', secrets: [] });
  t.equal(await outcome(engine, key), 'revoked');
  t.equal(engine.trust?.replaced(), null, 'who accepted the loss is not asked again');
});

t.test(
  'a master of a Cluster that is restored alone is refused alone, and accepting brings its keys along',
  async (t) => {
    const cluster = await startCluster();
    t.teardown(() => cluster.stop());
    const { engine, redis } = openGateway(t, cluster);
    await until('it decides', async () => (await engine.check(), !isUnavailable(engine)));
    const keys: Actor[] = [];
    for (let n = 0; n < 6; n += 1) keys.push(await newKey(engine, 'free'));
    for (const key of keys) t.equal(await outcome(engine, key), 'admitted');
    await learnt(engine, ...keys);
    for (const master of cluster.masters) await master.command('SAVE');
    const [revoked] = keys as [Actor];
    await change(engine, revoked, { status: 'revoked', secrets: [] });
    await learnt(engine, revoked);
    const owners = await Promise.all(
      cluster.masters.map(async (master) => ((await master.command('KEYS', `*${revoked.id}}:key`)) as string[]).length),
    );
    await restored(cluster.masters[owners.indexOf(1)]!);
    await until('it is refused', async () => {
      await engine.check().catch(() => undefined);
      // Its mark is one of many: where that was not read lately, the older record proves it.
      t.not(await outcome(engine, revoked), 'admitted');
      return engine.trust?.replaced()?.includes('restored to an older state') === true;
    });
    // Its copy does not decide if the change was heard of while its node was down, and could not be read.
    t.match(await outcome(engine, revoked), /^(revoked|unavailable)$/);
    await until('it is accepted', () => engine.trust!.accept().then(() => true));
    await until('it decides', async () => (await engine.check(), !isUnavailable(engine)));
    t.match(await redis.keys.read(revoked.id), { status: 'revoked' });
    t.equal(await outcome(engine, revoked), 'revoked');
  },
);
