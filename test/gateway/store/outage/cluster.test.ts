import t from 'tap';
import { slotOf } from '../../../../src/gateway/store/redis/keyspace/slot.js';
import { ask, newKey, standing, type Actor } from '../../../conformance/cast.js';
import { startCluster } from '../../../servers/redis.js';
import { until } from '../../../servers/until.js';
import { back, isUnavailable, ledgerOf, openGateway, served } from './fixture.js';
import { windowOf } from '../../admission/verdict.js';

const BOUNDS = [5_461, 10_923, 16_384];
const masterOf = (key: Actor): number => BOUNDS.findIndex((bound) => slotOf(`{${key.id}}`) < bound);
const now = (): number => Date.now();

t.test('of a Cluster one master freezes: its keys are decided here, all others where they always are', async (t) => {
  const cluster = await startCluster();
  t.teardown(() => cluster.stop());
  const { engine } = openGateway(t, cluster, { gateways: 2 });
  await until('it decides', async () => (await engine.check(), !isUnavailable(engine)));
  const keys: Actor[] = [];
  // Twelve may all be on the other masters.
  while (keys.length < 12 || !keys.some((key) => masterOf(key) === 0)) keys.push(await newKey(engine, 'free'));
  await served(engine, ...keys);
  cluster.masters[0]!.freeze();
  await t.rejects(
    ask(
      engine,
      keys.find((key) => masterOf(key) === 0)!,
      now(),
    ),
    { name: 'StoreUnavailable' },
    'the first of them may have been decided there',
  );
  t.ok(isUnavailable(engine));
  for (const key of keys) {
    const verdict = standing(await ask(engine, key, now()));
    t.same([verdict.outcome, windowOf(verdict, 'minute').limit], ['admitted', masterOf(key) === 0 ? 30 : 60]);
  }
  cluster.masters[0]!.thaw();
  await back(engine);
  for (const key of keys) {
    await until('it is in the ledger', async () => (await ledgerOf(engine, key)).requests === 1);
    t.equal(windowOf(standing(await ask(engine, key, now(), { cost: 0 })), 'day').remaining, 999);
  }
});
