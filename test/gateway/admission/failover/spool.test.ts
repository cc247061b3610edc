import t from 'tap';
import { ask, askMany, change, custom, newKey, standing } from '../../../conformance/cast.js';
import type { Actor } from '../../../conformance/cast.js';
import { until } from '../../../servers/until.js';
import { away, back, durableRedis, learnt, ledgerOf, openGateway } from './fixture.js';
import { startReplayers } from './replayers.js';

const now = (): number => Date.now();

t.test('three processes bring one spool home at once, and some die of it: every count arrives once', async (t) => {
  const server = await durableRedis(t);
  const { engine, folder } = openGateway(t, server);
  const keys: Actor[] = [];
  while (keys.length < 40) keys.push(await newKey(engine, 'pro'));
  for (const key of keys) await until('it is served', async () => (await ask(engine, key, now(), { cost: 0 })).outcome === 'admitted');
  await learnt(engine, ...keys);
  const expected = new Map(keys.map(({ id }) => [id, 0]));
  for (let round = 0; round < 3; round += 1) {
    await server.kill();
    await away(engine);
    for (const [n, key] of keys.entries()) {
      await askMany(engine, key, n % 7 + 1, now());
      await ask(engine, key, now(), { operation: 'createPet' });
      expected.set(key.id, expected.get(key.id)! + n % 7 + 2);
    }
    const replayers = await startReplayers(t, folder, server.url, 3);
    await server.restart();
    await replayers.killSome(round * 40);
    await back(engine);
    await replayers.stop();
  }
  for (const key of keys) {
    await until('all is there', async () => (await ledgerOf(engine, key)).requests >= expected.get(key.id)!);
    t.equal((await ledgerOf(engine, key)).requests, expected.get(key.id));
    t.equal(10_000 - standing(await ask(engine, key, now(), { cost: 0 })).day.remaining, expected.get(key.id), 'and is spent from the day, once');
  }
});

t.test('what was taken is not taken again, not even by a store that forgot what was acknowledged', async (t) => {
  const server = await durableRedis(t);
  const { engine } = openGateway(t, server);
  const [key, greedy] = [await newKey(engine, 'free'), await newKey(engine, 'drip')];
  const take = async (spool: string, requests: number, id: string, isGreedy = false): Promise<void> => {
    const redis = openGateway(t, server).redis;
    const row = { key: id, plan: 'free', operation: 'listPets', day: new Date().toISOString().slice(0, 10), requests, limited: 2, banned: 1, failed: 1 };
    for (let n = 0; n < 3; n += 1) await redis.fleet.take(spool, { keyId: id, greedy: isGreedy, rows: [row] });
  };
  await take('one', 5, key.id);
  await take('one', 4, key.id);
  await take('one', 7, key.id);
  await take('two', 3, key.id);
  t.same(await ledgerOf(engine, key), { requests: 10, limited: 4, banned: 2, failed: 2 });
  t.equal(standing(await ask(engine, key, now(), { cost: 0 })).day.remaining, 990);
  await take('one', 100, greedy.id, true);
  const { remaining } = standing(await ask(engine, greedy, now(), { cost: 0 })).day;
  t.ok(remaining >= 900 && remaining <= 901, 'of a bucket that trickles as well', { remaining });
});

t.test('more than the day has leaves it empty until it turns', async (t) => {
  const server = await durableRedis(t);
  const { engine } = openGateway(t, server);
  const key = await newKey(engine, 'enterprise', custom('unlimited', 50));
  await until('it is served', async () => (await ask(engine, key, now(), { cost: 0 })).outcome === 'admitted');
  await learnt(engine, key);
  await server.kill();
  await away(engine);
  await askMany(engine, key, 50, now());
  await server.restart();
  await back(engine);
  await change(engine, key, custom('unlimited', 40));
  const verdict = standing(await ask(engine, key, now()));
  t.match(verdict, { outcome: 'limited', violated: 'day', day: { remaining: 0 } });
});
