import type { Test } from 'tap';
import { scrape } from '../servers/exposition.js';
import { startGateway, type Gateway } from '../servers/gateway.js';
import { NO_BAN } from '../servers/plans.js';
import { redisFor, type RedisServer } from '../servers/redis.js';
import { until } from '../servers/until.js';
import { startUpstream } from '../servers/upstream.js';
import { ledgerOf } from '../e2e/ledger.js';

export const EACH = 4;
export const PLANS = {
  roomy: { limits: { minute: 1_000_000, day: 1_000_000 }, ban: NO_BAN },
  narrow: { limits: { minute: 1_000_000, day: 200 }, ban: NO_BAN },
  anonymous: { limits: { minute: 1_000_000, day: 1_000_000 }, ban: NO_BAN },
};
const DURABLE = { config: ['appendonly yes', 'appendfsync always'] };

interface Fleet {
  readonly redis: RedisServer;
  readonly start: (options?: { readonly dataFolder?: string; readonly workers?: number }) => Promise<Gateway>;
}

export async function fleetOf(t: Test): Promise<Fleet> {
  const redis = await redisFor(t, DURABLE);
  const upstream = await startUpstream(t);
  return {
    redis,
    start: ({ dataFolder, workers = 1 } = {}) =>
      startGateway(t, {
        plans: PLANS,
        config: { workers, upstreams: { pets: { addresses: [upstream.url] } } },
        environment: { REDIS_URL: redis.url },
        ...(dataFolder === undefined ? {} : { dataFolder }),
      }),
  };
}

export function createKey(gateway: Gateway, plan: string): Promise<{ id: string; key: string }> {
  return gateway.createKey({ plan });
}

export async function figure({ adminUrl }: Gateway, name: string): Promise<number> {
  return (await scrape(adminUrl)).value(name);
}

export async function away(...gateways: readonly Gateway[]): Promise<void> {
  for (const gateway of gateways)
    await until('the gateway decides by itself', async () => (await figure(gateway, 'petgate_store_degraded')) === 1);
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
