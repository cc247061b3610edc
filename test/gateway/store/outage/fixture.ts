import type { Test } from 'tap';
import { openFailoverEngine } from '../../../../src/gateway/store/outage/engine.js';
import type { FailoverEngine, FailoverOptions } from '../../../../src/gateway/store/outage/engine.js';
import { openRedisEngine, type RedisEngine } from '../../../../src/gateway/store/redis/engine.js';
import type { AdmissionEngine } from '../../../../src/gateway/store/port.js';
import { addCounts, noCounts, type UsageCounts } from '../../../../src/gateway/store/records/counts.js';
import { ask, dayName, PLANS, rowsOf, type Actor } from '../../../conformance/cast.js';
import { startRedis, type RedisServer } from '../../../servers/redis.js';
import { until } from '../../../servers/until.js';
import { tempFolder } from '../embedded/fixture.js';

/** Longer than in service: here Redis syncs each write to the disk, on a busy machine. */
export const DEADLINE_MS = 1_500;
export const MAP_BYTES = 2 ** 26;
/** What Redis told anybody survives its death. */
const DURABLE = { config: ['appendonly yes', 'appendfsync always'] };

export async function durableRedis(t: Test): Promise<RedisServer> {
  const server = await startRedis(DURABLE);
  t.teardown(() => server.stop());
  return server;
}

/** Keeps what SAVE wrote, and nothing later. */
export async function snapshotRedis(t: Test): Promise<RedisServer> {
  const server = await startRedis();
  t.teardown(() => server.stop());
  return server;
}

export function redisOf({ url }: { readonly url: string }): RedisEngine {
  return openRedisEngine({ url, deadlineMs: DEADLINE_MS, plans: PLANS, usageDays: 400, events: true });
}

interface Gateway {
  readonly engine: FailoverEngine;
  /** What the engine asks. */
  readonly redis: RedisEngine;
  readonly folder: string;
}

/** One gateway's engine on `server`, that keeps a folder of its own unless one is given. */
export function openGateway(
  t: Test,
  server: { readonly url: string },
  options: Partial<FailoverOptions> = {},
): Gateway {
  const folder = options.folder ?? tempFolder(t);
  const redis = redisOf(server);
  const engine = openFailoverEngine({
    redis,
    folder,
    mapBytes: MAP_BYTES,
    plans: PLANS,
    gateways: 1,
    deadlineMs: DEADLINE_MS,
    events: true,
    ...options,
  });
  t.teardown(() => engine.close());
  return { engine, redis, folder };
}

/** A Redis that keeps all it acknowledged, and one gateway's engine on it. */
export async function startGateway(
  t: Test,
  options: Partial<FailoverOptions> = {},
): Promise<Gateway & { readonly server: RedisServer }> {
  const server = await durableRedis(t);
  return { server, ...openGateway(t, server, options) };
}

/** Kills Redis; resolves once the engine decides by itself. */
export async function outageBegins(server: RedisServer, engine: FailoverEngine): Promise<void> {
  await server.kill();
  await unavailable(engine);
}

/** Starts Redis again; resolves once it decides, with the counts of the outage. */
export async function outageEnds(server: RedisServer, engine: FailoverEngine): Promise<void> {
  await server.restart();
  await back(engine);
}

/** Waits until every key has a copy as it was last written: it is good then while Redis is unavailable. */
export async function learnt(engine: FailoverEngine, ...keys: readonly Actor[]): Promise<void> {
  for (const { id, record } of keys)
    await until(`key ${id} is copied`, () => engine.cached(id)?.record.version === record.version);
}

/** Waits until Redis serves every key, and then as `learnt` does. */
export async function served(engine: FailoverEngine, ...keys: readonly Actor[]): Promise<void> {
  for (const key of keys)
    await until('it is served', async () => (await ask(engine, key, Date.now(), { cost: 0 })).outcome === 'admitted');
  await learnt(engine, ...keys);
}

export function isUnavailable(engine: FailoverEngine): boolean {
  return engine.failover.degraded() !== null;
}

/** Asks for nothing until the engine decides by itself. */
export async function unavailable(engine: FailoverEngine): Promise<void> {
  await until('it decides by itself', async () => (await engine.check(), isUnavailable(engine)));
}

export async function back(engine: FailoverEngine): Promise<void> {
  await until('Redis decides again', async () => (await engine.check(), !isUnavailable(engine)));
}

/** The sum of what a ledger has of a key, yesterday and today. */
export async function ledgerOf(engine: Pick<AdmissionEngine, 'usage'>, { id }: Actor): Promise<UsageCounts> {
  const rows = await rowsOf(engine as AdmissionEngine, dayName(Date.now() - 86_400_000), dayName(Date.now()), id);
  const sum = noCounts();
  for (const row of rows) addCounts(sum, row);
  return sum;
}
