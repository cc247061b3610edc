import t from 'tap';
import type { Test } from 'tap';
import { openRedisEngine } from '../../../src/gateway/store/redis/engine.js';
import { slotOf } from '../../../src/gateway/store/redis/keyspace/slot.js';
import { PLANS } from '../../conformance/cast.js';
import { incoming } from '../../conformance/keys.js';
import { startGateway, type Gateway } from '../../servers/gateway.js';
import { redisFor, type RedisServer, startCluster, startRedis } from '../../servers/redis.js';
import { startProxy, type StallingProxy } from '../../servers/stalling-proxy.js';
import { until } from '../../servers/until.js';

interface Scene {
  readonly master: RedisServer;
  readonly replica: RedisServer;
  /** Between the two. */
  readonly way: StallingProxy;
  readonly gateway: Gateway;
}

async function setUp(t: Test): Promise<Scene> {
  const master = await startRedis();
  const way = await startProxy(master.port);
  const replica = await startRedis({ config: [`replicaof 127.0.0.1 ${way.port}`] });
  t.teardown(async () => {
    await way.stop();
    await Promise.all([master.stop(), replica.stop()]);
  });
  await until('the replica follows', async () =>
    String(await replica.command('INFO', 'replication')).includes('master_link_status:up'),
  );
  const gateway = await startGateway(t, { environment: { REDIS_URL: master.url } });
  await until('the gateway is ready', async () => (await fetch(`${gateway.adminUrl}/readyz`)).status === 200);
  return { master, replica, way, gateway };
}

/** What the replica, now master, has of a key. */
async function statusAfterFailover(
  t: Test,
  { master, replica }: Scene,
  ids: readonly string[],
): Promise<readonly (string | undefined)[]> {
  await master.kill();
  await replica.command('REPLICAOF', 'NO', 'ONE');
  const engine = openRedisEngine({ url: replica.url, deadlineMs: 2_000, plans: PLANS, usageDays: 400 });
  t.teardown(() => engine.close());
  await engine.check();
  return Promise.all(ids.map(async (id) => (await engine.keys.read(id))?.status));
}

const UNCERTAIN = { status: 503, body: { code: 'change_uncertain', status: 503 } };

t.test(
  'a revocation that no replica has is not acknowledged, and one that is acknowledged survives a failover',
  async (t) => {
    const scene = await setUp(t);
    const { gateway, way } = scene;
    const [before, after, never] = [
      await gateway.createKey({ plan: 'free' }),
      await gateway.createKey({ plan: 'free' }),
      await gateway.createKey({ plan: 'free' }),
    ];
    const revoke = (id: string) => gateway.admin('DELETE', `/admin/v1/keys/${id}`);
    t.equal((await revoke(before.id)).status, 204);
    way.set('stall');
    t.match(await revoke(after.id), UNCERTAIN);
    t.match(await revoke(after.id), UNCERTAIN, 'nor is a repetition, which finds it done');
    t.match(await gateway.admin('PUT', `/admin/v1/bans/${never.id}`, { for: '1h' }), UNCERTAIN);
    const created = await gateway.admin('POST', '/admin/v1/keys', { plan: 'free', name: 'uncertain' });
    t.match(created, UNCERTAIN);
    t.match(
      (created.body as { message: string }).message,
      /failover may undo it.*This made the key [0-9A-Za-z]{12}, whose secret is not shown: revoke it/,
    );
    t.match((await gateway.admin('POST', `/admin/v1/keys/${never.id}/rotate`, {})).body, {
      message: /The new secret is not shown: rotate once more/,
    });
    way.set('pass');
    await until('the replica has caught up', async () => (await revoke(after.id)).status === 204);
    way.set('stall');
    t.match(await revoke(never.id), UNCERTAIN);
    t.same(
      await statusAfterFailover(t, scene, [before.id, after.id, never.id]),
      ['revoked', 'revoked', 'enabled'],
      'what was acknowledged holds; the rest is as uncertain as was said',
    );
  },
);

t.test('a replica that was there and is gone is still waited for', async (t) => {
  const { master, way, gateway } = await setUp(t);
  const { id } = await gateway.createKey({ plan: 'free' });
  way.set('refuse');
  await until('the master has no replica', async () =>
    String(await master.command('INFO', 'replication')).includes('connected_slaves:0'),
  );
  t.match(await gateway.admin('PATCH', `/admin/v1/keys/${id}`, { status: 'disabled' }), UNCERTAIN);
});

t.test(
  'keys brought into a Cluster are certain only when the replicas of all nodes that hold them have them',
  async (t) => {
    const cluster = await startCluster();
    t.teardown(() => cluster.stop());
    const engine = openRedisEngine({
      url: cluster.url,
      deadlineMs: 2_000,
      plans: PLANS,
      usageDays: 400,
      replicas: { replicas: 1, waitMs: 300 },
    });
    t.teardown(() => engine.close());
    await until('the engine decides', async () => (await engine.check(), true));
    const slots = [0, 5_461, 10_923, 16_384];
    const nodeOf = (key: string): number => slots.findIndex((bound) => slotOf(key) < bound) - 1;
    await followedBy(t, cluster.masters[0]!);
    const keys = Array.from({ length: 300 }, () => incoming());
    const held = (on: (node: number) => boolean) => keys.filter(({ id }) => on(nodeOf(`{${id}}`))).slice(0, 5);
    const [followed, alone] = [held((node) => node === 0), held((node) => node !== 0)];
    t.ok((await engine.keys.restore(followed)).every((how) => how === 'added'));
    await t.rejects(engine.keys.restore(alone), { name: 'ChangeUncertain' });
    await t.rejects(engine.keys.restore([...followed, ...alone]), { name: 'ChangeUncertain' }, 'nor once more');
    t.ok((await engine.keys.restore(followed)).every((how) => how === 'unchanged'));
  },
);

/** Gives a master of a Cluster a replica. */
async function followedBy(t: Test, master: RedisServer): Promise<void> {
  const replica = await redisFor(t, { cluster: true });
  await replica.command('CLUSTER', 'MEET', '127.0.0.1', master.port);
  const id = String(await master.command('CLUSTER', 'MYID'));
  await until('it knows the master', async () => String(await replica.command('CLUSTER', 'NODES')).includes(id));
  await until(
    'it follows',
    async () => {
      await replica.command('CLUSTER', 'REPLICATE', id);
      return String(await replica.command('INFO', 'replication')).includes('master_link_status:up');
    },
    20_000,
  );
}
