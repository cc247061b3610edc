import type { Test } from 'tap';
import { scrape } from '../servers/exposition.js';
import { startGateway, type Gateway, type GatewayOptions } from '../servers/gateway.js';
import { NO_BAN } from '../servers/plans.js';
import { redisFor, type RedisServer } from '../servers/redis.js';
import { until } from '../servers/until.js';
import { startUpstream, type Upstream } from '../servers/upstream.js';
import { openClient } from '../e2e/client.js';
import { ledgerOf } from '../e2e/ledger.js';
import { learnt } from './copies.js';
import { startLoad, type Load } from './load.js';

export const EACH = 4;
export const PLANS = {
  roomy: { limits: { minute: 1_000_000, day: 1_000_000 }, ban: NO_BAN },
  narrow: { limits: { minute: 1_000_000, day: 200 }, ban: NO_BAN },
  anonymous: { limits: { minute: 1_000_000, day: 1_000_000 }, ban: NO_BAN },
};
/** What Redis told anybody is then also in its file: with `everysec` it may write up to two seconds late. */
const DURABLE = { config: ['appendonly yes', 'appendfsync always'] };

type Start = (options?: GatewayOptions) => Promise<Gateway>;

/** Starts gateways on the Redis at `url`, in front of one upstream. */
export async function starterOn(t: Test, url: string, upstream?: Upstream): Promise<Start> {
  const { url: address } = upstream ?? (await startUpstream(t));
  return ({ config = {}, ...options } = {}) =>
    startGateway(t, {
      plans: PLANS,
      config: { upstreams: { pets: { addresses: [address] } }, ...config },
      environment: { REDIS_URL: url },
      ...options,
    });
}

/** A Redis that loses nothing it acknowledged, and what starts gateways on it. */
export async function fleetOf(
  t: Test,
): Promise<{ readonly redis: RedisServer; readonly upstream: Upstream; readonly start: Start }> {
  const [redis, upstream] = [await redisFor(t, DURABLE), await startUpstream(t)];
  return { redis, upstream, start: await starterOn(t, redis.url, upstream) };
}

export interface Scene {
  readonly gateway: Gateway;
  readonly id: string;
  readonly load: Load;
  /** Waits until so many more requests were admitted. */
  readonly admitsMore: () => Promise<void>;
}

/** A gateway under load by one key, which it knows from then on, unless it refuses while Redis is unavailable. */
export async function underLoad(t: Test, gateway: Gateway, onFailure: 'local' | 'refuse'): Promise<Scene> {
  const { id, key } = await createKey(gateway, 'roomy');
  const load = startLoad(t, [openClient(t, gateway.url, EACH)], key, EACH);
  if (onFailure === 'local') await learnt(gateway, [id]);
  const admitsMore = async (): Promise<void> => {
    const before = load.count('200');
    await until('more requests are admitted', () => load.count('200') > before + 50);
  };
  await admitsMore();
  return { gateway, id, load, admitsMore };
}

export function createKey(gateway: Gateway, plan: string): Promise<{ id: string; key: string }> {
  return gateway.createKey({ plan });
}

export async function figure({ adminUrl }: Gateway, name: string): Promise<number> {
  return (await scrape(adminUrl)).value(name);
}

export async function decidesAlone(gateway: Gateway): Promise<boolean> {
  return (await figure(gateway, 'petgate_store_degraded')) === 1;
}

export async function away(...gateways: readonly Gateway[]): Promise<void> {
  for (const gateway of gateways) await until('the gateway decides by itself', () => decidesAlone(gateway));
}

export async function back(...gateways: readonly Gateway[]): Promise<void> {
  for (const gateway of gateways)
    await until('Redis decides again', async () => (await figure(gateway, 'petgate_store_degraded')) === 0);
}

export async function ledgerIs(
  gateway: Gateway,
  id: string,
  requests: number,
  message: string,
  t: Test,
): Promise<void> {
  await until(`${message}: ${requests}`, async () => (await ledgerOf(gateway, id)).requests === requests).catch(
    () => undefined,
  );
  t.equal((await ledgerOf(gateway, id)).requests, requests, message);
}
