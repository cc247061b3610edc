import t from 'tap';
import type { Test } from 'tap';
import { openRedisEngine } from '../../../src/gateway/store/redis/engine.js';
import { ledgerName } from '../../../src/gateway/store/redis/keyspace/names.js';
import { dayNumber } from '../../../src/shared/utc-day.js';
import { slotOf } from '../../../src/gateway/store/redis/keyspace/slot.js';
import { dayName, PLANS, rowsOf } from '../../conformance/cast.js';
import { openClient } from '../../e2e/client.js';
import { learnt } from '../copies.js';
import { createKey, figure } from '../fleet.js';
import { startGateway, type Gateway } from '../../servers/gateway.js';
import { redisFor, startCluster } from '../../servers/redis.js';
import { startProxy } from '../../servers/stalling-proxy.js';
import { until } from '../../servers/until.js';
import { startUpstream } from '../../servers/upstream.js';

const DAY_MS = 86_400_000;

/** Longer than a busy machine keeps an answer of Redis back, as the first request has to be admitted. */
const DEADLINE_MS = 1_500;

/** A gateway before a service that answers 500, but only when it is told to. */
async function startFailing(
  t: Test,
  redisUrl: string,
  onFailure: string,
): Promise<{ gateway: Gateway; arrived: () => number; release: () => void }> {
  const upstream = await startUpstream(t);
  const held: (() => void)[] = [];
  upstream.handle = (_seen, response) => void held.push(() => response.writeHead(500).end());
  const gateway = await startGateway(t, {
    config: {
      store: { deadline: `${DEADLINE_MS}ms`, on_failure: onFailure },
      upstreams: { pets: { addresses: [upstream.url] } },
    },
    environment: { REDIS_URL: redisUrl },
  });
  return { gateway, arrived: () => held.length, release: () => held.splice(0).forEach((answer) => answer()) };
}

/** `requests` and `failed` of each key, when the gateway has gone and told all. */
async function ledgerAfter(
  t: Test,
  gateway: Gateway,
  redisUrl: string,
  keyIds: readonly string[],
): Promise<readonly string[]> {
  await gateway.program.stop('SIGTERM');
  const engine = openRedisEngine({ url: redisUrl, deadlineMs: 1_000, plans: PLANS, usageDays: 400 });
  t.teardown(() => engine.close());
  const rows = await Promise.all(
    keyIds.map((id) => rowsOf(engine, dayName(Date.now() - DAY_MS), dayName(Date.now()), id)),
  );
  return rows.map(
    (its) =>
      `${its.reduce((sum, { requests }) => sum + requests, 0)} ${its.reduce((sum, { failed }) => sum + failed, 0)}`,
  );
}

for (const onFailure of ['refuse', 'local']) {
  t.test(`${onFailure}: while one master of a Cluster is frozen, each 5xx is counted once`, async (t) => {
    const cluster = await startCluster();
    t.teardown(() => cluster.stop());
    const { gateway, arrived, release } = await startFailing(t, cluster.url, onFailure);
    const keys: { id: string; key: string }[] = [];
    for (const isFrozen of [true, false, false]) {
      while (keys.length < 3) {
        const key = await createKey(gateway, 'free');
        if (slotOf(`{${key.id}}`) < 5_461 !== isFrozen) continue;
        keys.push(key);
        break;
      }
    }
    const client = openClient(t, gateway.url, 3);
    const answers = Promise.all(keys.map(({ key }) => client.send(key)));
    await until('all are admitted', () => arrived() === 3);
    cluster.masters[0]!.freeze();
    release();
    t.same(
      (await answers).map(({ status }) => status),
      [500, 500, 500],
    );
    const frozenMs = performance.now();
    await until('it was frozen for some offers', () => performance.now() > frozenMs + 3 * DEADLINE_MS);
    cluster.masters[0]!.thaw();
    await until(
      'all masters decide',
      async () =>
        (await figure(gateway, 'petgate_store_up')) === 1 &&
        (onFailure === 'refuse' || (await figure(gateway, 'petgate_store_degraded')) === 0),
    );
    t.same(
      await ledgerAfter(
        t,
        gateway,
        cluster.url,
        keys.map(({ id }) => id),
      ),
      ['1 1', '1 1', '1 1'],
    );
  });

  for (const loss of ['mute', 'stall'] as const) {
    t.test(
      `${onFailure}: a failure report whose ${loss === 'mute' ? 'answer' : 'call'} is lost is counted once`,
      async (t) => {
        const redis = await redisFor(t);
        const proxy = await startProxy(redis.port);
        t.teardown(() => proxy.stop());
        const { gateway, arrived, release } = await startFailing(t, `redis://127.0.0.1:${proxy.port}`, onFailure);
        const { id, key } = await createKey(gateway, 'free');
        const name = ledgerName(id, dayNumber(Date.now()));
        const client = openClient(t, gateway.url, 1);
        // Redis has to know the script: else it asks for it, and that answer would be the one that is lost.
        const first = client.send(key);
        await until('a first one is admitted', () => arrived() === 1);
        release();
        await first;
        const countedUp = (count: number) => async (): Promise<boolean> =>
          ((await redis.command('HVALS', name)) as string[]).every((value) => Number(value) === count);
        await until('Redis has counted it', async () => (await redis.command('HLEN', name)) === 2);
        const answer = client.send(key);
        await until('it is admitted', () => arrived() === 1);
        if (onFailure === 'local') await learnt(gateway, [id]);
        proxy.set(loss);
        release();
        t.equal((await answer).status, 500);
        if (loss === 'mute') await until('Redis has counted it', countedUp(2));
        await until('the gateway knows that Redis is unavailable', async () =>
          onFailure === 'local'
            ? (await figure(gateway, 'petgate_store_degraded')) === 1
            : (await figure(gateway, 'petgate_store_up')) === 0,
        );
        proxy.set('refuse');
        proxy.set('pass');
        await until(
          'Redis decides again',
          async () =>
            (await figure(gateway, 'petgate_store_up')) === 1 &&
            (onFailure === 'refuse' || (await figure(gateway, 'petgate_store_degraded')) === 0),
        );
        t.same(await ledgerAfter(t, gateway, redis.url, [id]), ['2 2']);
      },
    );
  }
}
