import type { Test } from 'tap';
import { startGateway, type Gateway } from '../servers/gateway.js';
import { redisFor } from '../servers/redis.js';
import { startUpstream } from '../servers/upstream.js';

/** Two gateways on one Redis, with one upstream. */
export async function startPair(
  t: Test,
  plans: Readonly<Record<string, unknown>>,
): Promise<readonly [Gateway, Gateway]> {
  const redis = await redisFor(t);
  const upstream = await startUpstream(t);
  const config = { store: { deadline: '10s' }, upstreams: { pets: { addresses: [upstream.url] } } };
  const start = (): Promise<Gateway> => startGateway(t, { plans, config, environment: { REDIS_URL: redis.url } });
  return Promise.all([start(), start()]);
}
