import t from 'tap';
import { openRedisEngine } from '../../../src/gateway/store/redis/engine.js';
import { keyName } from '../../../src/gateway/store/redis/keyspace/names.js';
import { startSentinel } from '../../servers/redis.js';
import { until } from '../../servers/until.js';
import { ask, newKey, NOON_MS, PLANS, standing } from '../../conformance/cast.js';
import { conformance } from '../../conformance/engine.js';
import { windowOf } from '../../gateway/admission/verdict.js';

const sentinel = await startSentinel();
t.teardown(() => sentinel.stop());
const open = () =>
  openRedisEngine({
    url: sentinel.url,
    deadlineMs: 1_000,
    plans: PLANS,
    usageDays: 400,
    events: true,
  });
await conformance(t, 'Redis behind a Sentinel', () => Promise.resolve(open()));

t.test('an engine finds the new master by itself, and keys and figures are there', async (t) => {
  const engine = open();
  t.teardown(() => engine.close());
  const key = await newKey(engine, 'free');
  await ask(engine, key, NOON_MS);
  const before = await sentinel.master();
  await until('the replica has the key', async () => {
    const replica = sentinel.servers.find((server) => server !== before);
    return Number(await replica?.command('HEXISTS', keyName(key.id), 'state')) === 1;
  });
  await sentinel.failover();
  await until('the engine decides again', async () => (await engine.check(), true));
  t.equal(windowOf(standing(await ask(engine, key, NOON_MS)), 'minute').remaining, 58);
});

await conformance(t, 'the same after a failover', () => Promise.resolve(open()));

t.test('a master that was made a replica while it serves: READONLY sends the engine to the new one', async (t) => {
  const engine = open();
  t.teardown(() => engine.close());
  const key = await newKey(engine, 'free');
  const dead = sentinel.servers.find((server) => !isAlive(server.pid));
  await dead?.restart();
  await until('the old master is a replica', async () =>
    String(await dead?.command('INFO', 'replication')).includes('master_link_status:up'),
  );
  await sentinel.switchOver();
  await until('the engine decides again', async () => (await ask(engine, key, NOON_MS)).outcome === 'admitted');
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
