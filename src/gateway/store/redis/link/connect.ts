import { createRequire } from 'node:module';
import type * as Ioredis from 'ioredis';
import type { Cluster, Redis } from 'ioredis';
import type { RedisTarget } from './url.js';

export type Client = Redis | Cluster;

/** A Cluster connection for looking up slots is closed if it receives nothing for the deadline plus this time. */
const SILENCE_MS = 1_000;
const SENTINEL_MS = 1_000;
/** Pause before asking a Redis that is loading its file again; a small file loads quickly. */
const LOADING_MS = 50;

let loaded: typeof Ioredis | null = null;

/** Loads ioredis with the first connection: a gateway on the embedded store starts a tenth faster without it. */
function ioredis(): typeof Ioredis {
  loaded ??= createRequire(import.meta.url)('ioredis') as typeof Ioredis;
  return loaded;
}

export function isCluster(client: Client): client is Cluster {
  return client.isCluster;
}

/**
 * Dials, and redials after each loss. Nothing is queued, and nothing is sent twice: a command whose response was lost
 * may have been executed.
 */
export function connect(target: RedisTarget, deadlineMs: number): Client {
  const client = target.kind === 'cluster' ? clusterOf(target, deadlineMs) : singleOf(target, deadlineMs);
  // Without a listener, a failure to dial would end the process. The calls that fail report it.
  client.on('error', () => undefined);
  return client;
}

/** Returns a connection to the node `host:port` of a Cluster. */
export function dialNode(cluster: Cluster, name: string): Redis {
  const colon = name.lastIndexOf(':');
  const address = { host: name.slice(0, colon), port: Number(name.slice(colon + 1)) };
  return new (ioredis().Redis)({
    ...cluster.options.redisOptions,
    replyMapping: 'legacy',
    ...address,
    socketTimeout: undefined,
    enableOfflineQueue: false,
    retryStrategy: redialDelayMs,
  });
}

function commonOptions(target: RedisTarget, deadlineMs: number) {
  return {
    ...(target.username === null ? {} : { username: target.username }),
    ...(target.password === null ? {} : { password: target.password }),
    ...(target.tls ? { tls: {} } : {}),
    connectionName: 'petgate',
    connectTimeout: SENTINEL_MS,
    maxLoadingRetryTime: LOADING_MS,
    disconnectTimeout: deadlineMs,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    // After a failover the old master responds READONLY: dial again, to find the new one.
    reconnectOnError: (error: Error) => error.message.includes('READONLY'),
  };
}

function singleOf(target: Exclude<RedisTarget, { kind: 'cluster' }>, deadlineMs: number): Redis {
  const options = { ...commonOptions(target, deadlineMs), enableOfflineQueue: false, retryStrategy: redialDelayMs };
  if (target.kind === 'single') return new (ioredis().Redis)({ ...options, ...target.address, db: target.database });
  return new (ioredis().Redis)({
    ...options,
    sentinels: target.sentinels.map((address) => ({ ...address })),
    name: target.master,
    ...(target.tls ? { enableTLSForSentinelMode: true, sentinelTLS: {} } : {}),
    sentinelRetryStrategy: redialDelayMs,
    sentinelReconnectStrategy: () => SENTINEL_MS,
    sentinelCommandTimeout: SENTINEL_MS,
    failoverDetector: true,
  });
}

/** Returns a client that only finds out which node has which slot (nodes.ts). */
function clusterOf(target: Extract<RedisTarget, { kind: 'cluster' }>, deadlineMs: number): Cluster {
  return new (ioredis().Cluster)(
    target.nodes.map((address) => ({ ...address })),
    {
      redisOptions: { ...commonOptions(target, deadlineMs), socketTimeout: deadlineMs + SILENCE_MS },
      clusterRetryStrategy: redialDelayMs,
      slotsRefreshTimeout: SENTINEL_MS,
      slotsRefreshInterval: 5_000,
      ...(target.tls ? { dnsLookup: (host, callback) => callback(null, host) } : {}),
    },
  );
}

/**
 * Returns the delay before dialing again: short, because every request waits for it, and random, so that not all
 * gateways dial at the same time.
 */
function redialDelayMs(attempt: number): number {
  return Math.min(attempt * 20, 80) * (0.75 + Math.random() / 4);
}
