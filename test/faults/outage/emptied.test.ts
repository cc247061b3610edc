import t from 'tap';
import type { Test } from 'tap';
import { redisFor, startCluster } from '../../servers/redis.js';
import { until } from '../../servers/until.js';
import { openClient } from '../../e2e/client.js';
import { learnt } from '../copies.js';
import { away, createKey, EACH, figure, starterOn } from '../fleet.js';
import { kindOf, startLoad, type Load } from '../load.js';

function onlyGood(t: Test, load: Load): void {
  t.comment(JSON.stringify(Object.fromEntries(load.tally)));
  t.strictSame(
    [...load.tally.keys()].filter((kind) => kind !== '200' && kind !== 'store_unavailable'),
    [],
    'nobody was told that the key is not valid',
  );
}

t.test(
  'FLUSHALL under load: no key is refused as unknown, and the store is unavailable until it is accepted',
  async (t) => {
    const redis = await redisFor(t);
    const start = await starterOn(t, redis.url);
    const gateways = [
      await start(),
      await start({ config: { workers: 2 } }),
      await start({ config: { store: { on_failure: 'refuse' } } }),
    ];
    const { id, key } = await createKey(gateways[0]!, 'roomy');
    const loads = gateways.map(({ url }) => startLoad(t, [openClient(t, url, EACH)], key, EACH));
    await Promise.all(gateways.slice(0, 2).map((gateway) => learnt(gateway, [id])));
    for (const load of loads) await until('it is under load', () => load.count('200') > 100);
    await redis.command('FLUSHALL');
    await away(gateways[0]!, gateways[1]!);
    await until('the one that refuses, refuses', () => loads[2]!.count('store_unavailable') > 10);
    for (const load of loads.slice(0, 2)) {
      const before = load.count('200');
      await until('it goes on', () => load.count('200') > before + 100);
    }
    for (const load of loads) {
      await load.stop();
      onlyGood(t, load);
    }
    t.equal(await figure(gateways[0]!, 'petgate_store_replaced'), 1);
    t.match((await gateways[0]!.admin('GET', '/readyz')).body, {
      parts: { store: { degraded: true, detail: /petgate store accept/ } },
    });
    t.match(await gateways[0]!.admin('POST', '/admin/v1/store/accept'), { status: 200, body: { accepted: true } });
    for (const gateway of gateways)
      await until('it decides again', async () => (await figure(gateway, 'petgate_store_replaced')) === 0);
    const made = await createKey(gateways[1]!, 'roomy');
    for (const { url } of gateways) {
      const client = openClient(t, url, 1);
      // A worker may be in outage mode for a moment longer than another.
      await until('a new key is valid on all gateways', async () => kindOf(await client.send(made.key)) === '200');
      t.not(kindOf(await client.send(key)), '200', 'the store that was accepted has no other');
    }
  },
);

t.test('a Redis that restarts without its data, and a new gateway beside it', async (t) => {
  const redis = await redisFor(t);
  const start = await starterOn(t, redis.url);
  const gateway = await start();
  const { id, key } = await createKey(gateway, 'roomy');
  const fresh = await start();
  t.equal(kindOf(await openClient(t, fresh.url, 1).send(key)), '200', 'a new data folder takes the store as it is');
  const load = startLoad(t, [openClient(t, gateway.url, EACH)], key, EACH);
  await learnt(gateway, [id]);
  await redis.kill();
  await redis.restart();
  await until('it is told', async () => (await figure(gateway, 'petgate_store_replaced')) === 1);
  const before = load.count('200');
  await until('it goes on', () => load.count('200') > before + 100);
  await load.stop();
  onlyGood(t, load);
  await gateway.program.stop();
  const again = await start({ dataFolder: gateway.dataFolder });
  await away(again);
  t.equal(await figure(again, 'petgate_store_replaced'), 1, 'who starts then knows it from the data folder');
  t.equal(kindOf(await openClient(t, again.url, 1).send(key)), '200');
});

t.test('a master of a Cluster that restarts empty', async (t) => {
  const cluster = await startCluster();
  t.teardown(() => cluster.stop());
  const start = await starterOn(t, cluster.url);
  const gateway = await start();
  const made = [];
  for (let n = 0; n < 6; n += 1) made.push(await createKey(gateway, 'roomy'));
  const loads = made.map(({ key }) => startLoad(t, [openClient(t, gateway.url, 1)], key, 1));
  for (const load of loads) await until('it is under load', () => load.count('200') > 20);
  await learnt(
    gateway,
    made.map(({ id }) => id),
  );
  await cluster.masters[1]!.kill();
  await cluster.masters[1]!.restart();
  await until('it is told', async () => (await figure(gateway, 'petgate_store_replaced')) === 1);
  for (const load of loads) {
    const before = load.count('200');
    await until('each key goes on', () => load.count('200') > before + 50);
    await load.stop();
    onlyGood(t, load);
  }
  const other = await start();
  await until('a new gateway is told', async () => (await figure(other, 'petgate_store_replaced')) === 1);
  const third = await start();
  await until('and another one', async () => (await figure(third, 'petgate_store_replaced')) === 1);
  t.equal(await figure(other, 'petgate_store_replaced'), 1, 'the first is still of that mind');
  t.strictSame(await cluster.masters[1]!.command('KEYS', 'petgate:*store'), [], 'nobody marked it');
  t.match(await other.admin('POST', '/admin/v1/store/accept'), { status: 200 });
  for (const each of [gateway, other, third])
    await until('it decides again', async () => (await figure(each, 'petgate_store_replaced')) === 0);
});

t.test(
  'a first start while PostgreSQL is unreachable: nobody knows what Redis lost, and nothing is made up',
  async (t) => {
    const redis = await redisFor(t);
    const start = await starterOn(t, redis.url);
    const gateway = await start({
      environment: { REDIS_URL: redis.url, LEDGER_URL: 'postgres://127.0.0.1:1/ledger' },
    });
    const line = await gateway.program.logged('store is not trusted');
    t.match(line['reason'], /no id, and only the archive knows .* LEDGER_URL/);
    t.match((await gateway.admin('GET', '/readyz')).body, { parts: { store: { detail: /only the archive knows/ } } });
    t.equal(await figure(gateway, 'petgate_store_replaced'), 1);
    t.match(await gateway.admin('POST', '/admin/v1/keys', { plan: 'roomy', name: 'new' }), { status: 503 });
    t.match(await gateway.admin('POST', '/admin/v1/store/accept'), { status: 503 }, 'who accepts can know no better');
    t.equal(await redis.command('DBSIZE'), 0, 'Redis stays as it is');
  },
);
