import { join } from 'node:path';
import { open } from 'lmdb';
import type { Test } from 'tap';
import { openStores } from '../../../src/gateway/store/embedded/owner/stores.js';
import { transact } from '../../../src/gateway/store/embedded/owner/transaction.js';
import { GATEWAY_DAYS } from '../../../src/gateway/store/redis/keyspace/names.js';
import { startGateway, type Gateway } from '../../servers/gateway.js';
import { redisFor, type RedisServer } from '../../servers/redis.js';
import { startProxy, type StallingProxy } from '../../servers/stalling-proxy.js';
import { until } from '../../servers/until.js';
import { startUpstream } from '../../servers/upstream.js';
import { openClient } from '../../e2e/client.js';
import { learnt } from '../copies.js';
import { away } from '../fleet.js';

export const DAY_MS = 86_400_000;
export const HOUR_MS = 3_600_000;

export interface Stage {
  readonly redis: RedisServer;
  readonly proxy: StallingProxy;
  readonly near: Gateway;
  /** Its way to Redis leads through the proxy, and is cut. */
  cut: Gateway;
  /** Names the one that is cut among gateways. */
  cutId: string;
  /** Starts `cut` again. */
  readonly restart: (dataFolder: string) => Promise<Gateway>;
  readonly keyId: string;
  /** Over by the clock; `cut` still has 3 requests of it. */
  readonly overMs: number;
}

/** Two gateways, of which one was cut off before the end of a day that is over, with counts of it. */
export async function startStage(t: Test, finalAfter = '7d'): Promise<Stage> {
  const redis = await redisFor(t);
  const proxy = await startProxy(redis.port);
  t.teardown(() => proxy.stop());
  const upstream = await startUpstream(t);
  const config = {
    store: { deadline: '1s', final_after: finalAfter },
    upstreams: { pets: { addresses: [upstream.url] } },
  };
  const start = (url: string, dataFolder?: string): Promise<Gateway> =>
    startGateway(t, { config, environment: { REDIS_URL: url }, ...(dataFolder === undefined ? {} : { dataFolder }) });
  const near = await start(redis.url);
  // The note of active-days.ts stands among them.
  const told = async (): Promise<readonly string[]> =>
    ((await redis.command('HKEYS', GATEWAY_DAYS)) as string[]).filter((id) => !id.includes(' '));
  await until('the first told its days', async () => (await told()).length === 1);
  const [nearId] = await told();
  const proxied = `redis://127.0.0.1:${proxy.port}`;
  const cut = await start(proxied);
  await until('both told their days', async () => (await told()).length === 2);
  const cutId = (await told()).find((id) => id !== nearId)!;
  const { id: keyId, key } = await near.createKey({ plan: 'pro' });
  await openClient(t, cut.url, 1).send(key);
  await learnt(cut, [keyId]);
  const overMs = Math.floor((Date.now() - HOUR_MS) / DAY_MS - 1) * DAY_MS + DAY_MS / 2;
  const restart = (dataFolder: string): Promise<Gateway> => start(proxied, dataFolder);
  const stage = { redis, proxy, near, cut, cutId, keyId, overMs, restart };
  await cutOff(stage, [{ keyId, requests: 3 }]);
  return stage;
}

/** What was asked of a gateway while Redis was unavailable. */
export interface Counted {
  readonly keyId: string;
  readonly requests: number;
  /** `listPets` unless said. */
  readonly operation?: string;
}

/**
 * Cuts the gateway off and lets it have counts of the day that is over, beside those that it had before. It starts
 * again, under another id, as which alone Redis knows it then.
 */
export async function cutOff(stage: Stage, counts: readonly Counted[]): Promise<void> {
  const { proxy, cut, overMs, redis } = stage;
  proxy.set('refuse');
  await away(cut);
  await cut.program.stop();
  const folder = join(cut.dataFolder, 'failover');
  const stores = openStores({ folder, mapBytes: 2 ** 26 });
  transact(stores, (transaction) => {
    for (const { keyId, requests, operation = 'listPets' } of counts) {
      for (let n = 0; n < requests; n += 1)
        transaction.count(transaction.key(keyId), 'pro', operation, overMs, 'requests');
    }
  });
  await stores.fold.run();
  await stores.close();
  stage.cut = await stage.restart(cut.dataFolder);
  const durable = open<Buffer, string>(join(folder, 'durable.mdb'), { encoding: 'binary', readOnly: true });
  const told = (await redis.command('HGET', GATEWAY_DAYS, stage.cutId)) as string | null;
  await redis.command('HDEL', GATEWAY_DAYS, stage.cutId);
  stage.cutId = durable.getBinary('fid')!.toString();
  await durable.close();
  if (told !== null) await redis.command('HSET', GATEWAY_DAYS, stage.cutId, told);
}

/** What the gateway that is cut would have told last, so long ago. */
export async function lastTold({ redis, cutId, overMs }: Stage, agoMs: number): Promise<void> {
  await redis.command(
    'HSET',
    GATEWAY_DAYS,
    cutId,
    `${Math.floor(overMs / DAY_MS)}|${Date.now() - agoMs}|told|cut.example`,
  );
}
