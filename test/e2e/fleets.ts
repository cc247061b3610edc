import type { Test } from 'tap';
import { startGateway, type Gateway } from '../servers/gateway.js';
import { storeOf } from '../servers/redis.js';
import type { Upstream } from '../servers/upstream.js';

/** Each way to share what was admitted: one process, workers, gateways. */
export const FLEETS = [
  { what: 'embedded', count: 1, workers: 1 },
  { what: 'embedded, with workers', count: 1, workers: 2 },
  { what: 'two gateways on Redis', count: 2, workers: 1 },
] as const;

/** Gateways before an upstream without a contract. */
export async function startFleet(
  t: Test,
  { count, workers }: (typeof FLEETS)[number],
  plans: Readonly<Record<string, unknown>>,
  upstream: Upstream,
): Promise<readonly Gateway[]> {
  const environment = await storeOf(t, count > 1 ? 'redis' : 'embedded');
  const upstreams = { default: { addresses: [upstream.url] } };
  const config = { workers, contract: 'none', store: { deadline: '10s' }, upstreams };
  return Promise.all(Array.from({ length: count }, () => startGateway(t, { plans, config, environment })));
}
