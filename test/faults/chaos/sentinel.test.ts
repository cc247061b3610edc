import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { startSentinel, type RedisSentinel, type RedisServer } from '../../servers/redis.js';
import { until } from '../../servers/until.js';
import { startUpstream } from '../../servers/upstream.js';
import { EVENTS, type Event, type Events } from './events.js';
import { Fleet } from './fleet.js';
import { repeat } from './random.js';
import { checkRehearsal } from './rehearsal.js';
import { checkLedger, settled, survive, TIMEOUT_MS } from './survive.js';

async function replicationOf(server: RedisServer): Promise<Map<string, string>> {
  const lines = String(await server.command('INFO', 'replication')).split('\r\n');
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]));
}

/** The replica has all that the master had when this was called. */
async function caughtUp(master: RedisServer, replica: RedisServer): Promise<void> {
  const offset = Number((await replicationOf(master)).get('master_repl_offset'));
  await until(
    'the replica has caught up',
    async () => {
      const there = await replicationOf(replica);
      return there.get('master_link_status') === 'up' && Number(there.get('slave_repl_offset')) >= offset;
    },
    60_000,
  );
}

/** From now on the replica hears nothing: it may not log in any more. */
async function cutLink(replica: RedisServer): Promise<void> {
  await replica.command('CONFIG', 'SET', 'masterauth', 'not-the-password', 'masteruser', 'nobody');
  await replica.command('CLIENT', 'KILL', 'TYPE', 'master');
  await until('the link is cut', async () => (await replicationOf(replica)).get('master_link_status') === 'down');
}

async function mendLink(replica: RedisServer): Promise<void> {
  await replica.command('CONFIG', 'SET', 'masterauth', '', 'masteruser', '');
}

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
