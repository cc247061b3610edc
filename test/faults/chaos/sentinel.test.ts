import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { startSentinel, type RedisSentinel, type RedisServer } from '../../servers/redis.js';
import { startUpstream } from '../../servers/upstream.js';
import { caughtUp, cutLink, mendLink } from '../replication.js';
import { EVENTS, type Event, type Events } from './events.js';
import { Fleet } from './fleet.js';
import { repeat } from './random.js';
import { checkRehearsal } from './rehearsal.js';
import { checkLedger, settled, survive, TIMEOUT_MS } from './survive.js';

/** The one that died comes back, as the replica of the other: the sentinel would see to it too, but takes its time. */
async function rejoin(sentinel: RedisSentinel, old: RedisServer): Promise<void> {
  const master = await sentinel.master();
  await old.restart();
  // The sentinel had it write down what it was told when it took over.
  await mendLink(old);
  await old.command('REPLICAOF', '127.0.0.1', master.port);
  await caughtUp(master, old);
}

function failovers(sentinel: RedisSentinel): Events {
  const pair = async (): Promise<{ master: RedisServer; replica: RedisServer }> => {
    const master = await sentinel.master();
    return { master, replica: sentinel.servers.find((server) => server !== master)! };
  };
  /** What is acknowledged from here on may be lost; all that was before is on both. */
  const risk = async (fleet: Fleet, master: RedisServer, replica: RedisServer): Promise<void> => {
    fleet.atRisk = true;
    await caughtUp(master, replica);
  };
  const dies: Event = async (fleet) => {
    const { master, replica } = await pair();
    await risk(fleet, master, replica);
    await sentinel.failover();
    fleet.atRisk = false;
    await rejoin(sentinel, master);
  };
  const diesUnheard: Event = async (fleet, random) => {
    const { master, replica } = await pair();
    await risk(fleet, master, replica);
    await cutLink(replica);
    await Promise.all([EVENTS['a key changes its plan']!(fleet, random), EVENTS['a key is rotated']!(fleet, random)]);
    await sentinel.failover();
    fleet.atRisk = false;
    await mendLink(replica);
    await rejoin(sentinel, master);
    await settled(fleet);
  };
  const standsStill: Event = async (_fleet, random) => {
    const { master } = await pair();
    master.freeze();
    // The sentinel is patient: a busy machine must not make it fail over by itself.
    await sleep(50 + random() * 850);
    master.thaw();
  };
  return {
    'the master stands still': standsStill,
    'the master dies': dies,
    'the master dies, and its replica heard nothing of late': diesUnheard,
  };
}

t.setTimeout(TIMEOUT_MS);

t.test(`two gateways on a master and its replica: a failover loses what it may, and no more (${repeat})`, async (t) => {
  const sentinel = await startSentinel({ config: ['appendonly yes', 'appendfsync always'], downAfterMs: 30_000 });
  t.teardown(() => sentinel.stop());
  const fleet = new Fleet(
    t,
    { environment: { REDIS_URL: sentinel.url }, settings: { store: { replicas: 1 } } },
    await startUpstream(t),
  );
  const failing = failovers(sentinel);
  // Twice: half of what happens is about Redis.
  await survive(t, fleet, 2, {
    ...failing,
    ...EVENTS,
    ...Object.fromEntries(Object.entries(failing).map(([name, event]) => [`${name} (again)`, event])),
  });
  await settled(fleet);
  await checkLedger(t, fleet);
  checkRehearsal(t, fleet);
});
