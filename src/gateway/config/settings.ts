import { availableParallelism } from 'node:os';
import type { Plans } from '../admission/plan.js';
import type { GatewayFile } from './schema/gateway.js';
import { isOff } from './schema/store.js';

/** Settings are immutable; a map of plans is read-only already. */
type Immutable<T> = T extends ReadonlyMap<unknown, unknown> ? T : { readonly [Name in keyof T]: Immutable<T[Name]> };

/**
 * All settings of the gateway, checked and complete. Their meaning is described in `schema/gateway.ts`; here names end
 * with their unit, and null means switched off or absent.
 */
export type Settings = Immutable<ReturnType<typeof toSettings>>;
export type EdgeLimits = Settings['limits'];
export type CorsSettings = NonNullable<Settings['cors']>;
export type EventsSettings = NonNullable<Settings['events']>;
export type TlsSettings = NonNullable<Settings['tls']>;
export type UpstreamSettings = Settings['upstreams'][string];
export type BreakerSettings = NonNullable<UpstreamSettings['breaker']>;
export type HealthSettings = NonNullable<UpstreamSettings['health']>;

/** Absolute paths, which depend on where the files are. */
export interface ResolvedPaths {
  /** Folder for all data of the gateway. */
  readonly dataFolder: string;
  /** The OpenAPI document (null: none, every path is forwarded) and its overlays. */
  readonly contract: string | null;
  readonly overlays: readonly string[];
  /** Two PEM files; null for plain HTTP on the public listener. */
  readonly tls: { readonly cert: string; readonly key: string } | null;
}

/** Contents of files and variables named in an upstream's settings. Secret: must not be shown anywhere. */
export interface UpstreamContents {
  /** PEM texts; null if not requested. */
  readonly tls: { readonly ca: string | null; readonly cert: string | null; readonly key: string | null };
  readonly secret: UpstreamSecret | null;
}

/** A field for the upstream, and its parts that must not appear in logs. */
export interface UpstreamSecret {
  readonly header: string;
  readonly credential: string;
  readonly secrets: readonly string[];
}

/** Converts a checked file to settings. */
export function toSettings(
  file: GatewayFile,
  plans: Plans,
  paths: ResolvedPaths,
  contents: ReadonlyMap<string, UpstreamContents>,
) {
  const { listen, store, keys } = file;
  return {
    environment: file.environment,
    listen: { host: listen.host, port: listen.port, proxyProtocol: listen.proxy_protocol },
    http2: file.tls?.http2 ?? true,
    admin: file.admin,
    workers: file.workers === 'auto' ? availableParallelism() : file.workers,
    ...paths,
    store: {
      redisUrl: store.redis ?? null,
      deadlineMs: store.deadline,
      usageDays: store.usage / 86_400_000,
      archive: isOff(store.archive) ? null : store.archive,
      /** With Redis: nothing is archived, and that was not set explicitly. */
      unarchived: store.redis !== undefined && store.archive === undefined,
      archiveAfterDays: store.archive_after / 86_400_000,
      finalAfterMs: store.final_after,
      mapBytes: store.map_size,
      onFailure: store.on_failure,
      gateways: store.gateways,
      eviction: store.eviction,
      replicas: { replicas: store.replicas, waitMs: store.replica_wait },
    },
    upstreams: toUpstreams(file, contents),
    limits: toLimits(file.limits),
    cors: file.cors ?? null,
    trustedProxies: file.trusted_proxies,
    realm: file.realm,
    credentials: file.credentials,
    errors: file.errors,
    plans,
    keys: { acceptImported: keys.accept_imported, holdersRotate: keys.holders_rotate },
    events: file.events ?? null,
    /** Null: from the contract's servers. */
    basePath: file.base_path === undefined ? null : file.base_path.replace(/\/$/, ''),
    /** Null: only the contract decides which of the gateway's own operations exist. */
    ownPaths: isOff(file.own_paths) ? null : file.own_paths,
    similarPaths: file.similar_paths,
    /** Null: from the contract. */
    account: file.account ?? null,
    metrics: file.metrics,
    log: file.log,
    drainMs: file.drain,
    shutdownMs: file.shutdown,
  };
}

function toLimits(limits: GatewayFile['limits']) {
  return {
    headerBytes: limits.header_size,
    headerFields: limits.header_fields,
    urlBytes: limits.url_size,
    headersMs: limits.headers_time,
    requestMs: limits.request_time,
    keepAliveMs: limits.keep_alive,
    connections: limits.connections,
    requestsPerConnection: limits.requests_per_connection,
    exchanges: limits.exchanges,
    streams: limits.streams,
    pipelined: limits.pipelined,
    waiting: limits.waiting,
    bodiesBytes: limits.bodies_size,
    callerShare: limits.caller_share,
    tunnels: limits.tunnels,
    tunnelIdleMs: limits.tunnel_idle,
    tunnelLifetimeMs: limits.tunnel_lifetime,
  };
}

/** Without a prototype: names come from files, and may be `constructor`. */
function toUpstreams({ upstreams, limits }: GatewayFile, contents: ReadonlyMap<string, UpstreamContents>) {
  const byName = Object.create(null) as Record<string, ReturnType<typeof toUpstream>>;
  for (const [name, upstream] of Object.entries(upstreams))
    byName[name] = toUpstream(upstream, limits, defaultsOf(name), contents.get(name));
  return byName;
}

/** Defaults of an upstream that depend on its kind. */
interface UpstreamDefaults {
  readonly authorization: 'internal' | 'none';
  readonly errors: 'replace' | 'pass';
  readonly deadlineMs: number;
  readonly bodyBytes: number;
  /** Whether it responds to CORS preflights itself if `cors` is not set. */
  readonly preflights: boolean;
}

/** The animal store's own services: they trust the gateway's token and follow its contract. */
const OURS: UpstreamDefaults = {
  ...{ authorization: 'internal', errors: 'replace', preflights: false },
  ...{ deadlineMs: 15_000, bodyBytes: 2 ** 20 },
};
/** An API not written for Petgate is changed as little as possible. */
const FOREIGN: UpstreamDefaults = {
  ...{ authorization: 'none', errors: 'pass', preflights: true },
  ...{ deadlineMs: 60_000, bodyBytes: 10 * 2 ** 20 },
};

function defaultsOf(name: string): UpstreamDefaults {
  return name === 'pets' || name === 'store' ? OURS : FOREIGN;
}

const NO_FILES = { ca: null, cert: null, key: null };

function toUpstream(
  given: GatewayFile['upstreams'][string],
  limits: GatewayFile['limits'],
  defaults: UpstreamDefaults,
  contents: UpstreamContents | undefined,
) {
  const { addresses, connections, health, breaker, host, forwarded } = given;
  return {
    addresses,
    connections,
    keepAliveMs: given.keep_alive,
    responseLimits: { headBytes: given.response_head, fields: given.response_fields },
    connectMs: given.connect,
    deadlineMs: given.deadline ?? defaults.deadlineMs,
    idleMs: given.idle,
    lifetimeMs: given.lifetime,
    resolveMs: given.resolve,
    /** Contents of their files. */
    tls: contents?.tls ?? NO_FILES,
    servername: given.servername ?? null,
    stripPrefix: given.strip_prefix ?? '',
    host,
    forwarded,
    authorization: authorizationOf(given.authorization ?? defaults.authorization, contents),
    errors: given.errors ?? defaults.errors,
    preflights: defaults.preflights,
    /** Maximum request body, unless the operation overrides it. */
    bodyBytes: limits.body_size ?? defaults.bodyBytes,
    health: health === undefined ? null : { path: health.path, everyMs: health.every, deadlineMs: health.deadline },
    breaker: breaker === 'off' ? null : { failures: breaker.failures, openMs: breaker.open, capMs: breaker.cap },
  };
}

function authorizationOf(
  said: NonNullable<GatewayFile['upstreams'][string]['authorization']>,
  contents: UpstreamContents | undefined,
): 'none' | 'internal' | 'client' | UpstreamSecret {
  return typeof said === 'string' ? said : (contents?.secret ?? 'none');
}
