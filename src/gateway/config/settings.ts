import { availableParallelism } from 'node:os';
import type { Plans } from '../admission/plan.js';
import type { GatewayFile } from './schema/gateway.js';
import { isOff } from './schema/store.js';

/** Nobody changes settings; a map of plans is read-only as it is. */
type Immutable<T> = T extends ReadonlyMap<unknown, unknown> ? T : { readonly [Name in keyof T]: Immutable<T[Name]> };

/**
 * Everything the gateway runs on, checked and complete. What each setting means stands beside it in
 * `schema/gateway.ts`; names end in their unit here, and null stands for what is switched off or left out.
 */
export type Settings = Immutable<ReturnType<typeof toSettings>>;
export type EdgeLimits = Settings['limits'];
export type CorsSettings = NonNullable<Settings['cors']>;
export type EventsSettings = NonNullable<Settings['events']>;
export type TlsSettings = NonNullable<Settings['tls']>;
export type UpstreamSettings = Settings['upstreams'][string];
export type BreakerSettings = NonNullable<UpstreamSettings['breaker']>;
export type HealthSettings = NonNullable<UpstreamSettings['health']>;

/** What depends on where the files are: absolute paths. */
export interface ResolvedPaths {
  /** Folder for everything the gateway keeps on disk. */
  readonly dataFolder: string;
  /** The OpenAPI document (null: none, every path is forwarded), and the overlays over it. */
  readonly contract: string | null;
  readonly overlays: readonly string[];
  /** Two PEM files; null: the public listener speaks plain HTTP. */
  readonly tls: { readonly cert: string; readonly key: string } | null;
}

/** What stands in the files and variables that the settings of an upstream name. Secrets: they may be shown nowhere. */
export interface UpstreamContents {
  /** PEM texts; null: not asked for. */
  readonly tls: { readonly ca: string | null; readonly cert: string | null; readonly key: string | null };
  readonly secret: UpstreamSecret | null;
}

/** A field as the upstream gets it, and what of it may stand in no log. */
export interface UpstreamSecret {
  readonly header: string;
  readonly credential: string;
  readonly secrets: readonly string[];
}

/** The settings that a checked file says. */
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
      /** With Redis nothing is archived, and nobody said that it be so. */
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
    /** Null: what the servers of the contract say. */
    basePath: file.base_path === undefined ? null : file.base_path.replace(/\/$/, ''),
    /** Null: the contract alone says which of the gateway's own operations there are. */
    ownPaths: isOff(file.own_paths) ? null : file.own_paths,
    similarPaths: file.similar_paths,
    /** Null: as the contract says. */
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

/** Without a prototype: the names come from files, and `constructor` is as good a name as any. */
function toUpstreams({ upstreams, limits }: GatewayFile, contents: ReadonlyMap<string, UpstreamContents>) {
  const byName = Object.create(null) as Record<string, ReturnType<typeof toUpstream>>;
  for (const [name, upstream] of Object.entries(upstreams))
    byName[name] = toUpstream(upstream, limits, defaultsOf(name), contents.get(name));
  return byName;
}

/** What is left out of an upstream's settings, where that depends on whose it is. */
interface UpstreamDefaults {
  readonly authorization: 'internal' | 'none';
  readonly errors: 'replace' | 'pass';
  readonly deadlineMs: number;
  readonly bodyBytes: number;
  /** Whether CORS preflights are its own to answer, while `cors` says nothing. */
  readonly preflights: boolean;
}

/** The animal store's own services: they know the gateway by its token, and have its contract. */
const OURS: UpstreamDefaults = {
  ...{ authorization: 'internal', errors: 'replace', preflights: false },
  ...{ deadlineMs: 15_000, bodyBytes: 2 ** 20 },
};
/** An API that was not written for Petgate is changed as little as possible. */
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
    /** What their files hold. */
    tls: contents?.tls ?? NO_FILES,
    servername: given.servername ?? null,
    stripPrefix: given.strip_prefix ?? '',
    host,
    forwarded,
    authorization: authorizationOf(given.authorization ?? defaults.authorization, contents),
    errors: given.errors ?? defaults.errors,
    preflights: defaults.preflights,
    /** The longest body of a request, unless its operation says otherwise. */
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
