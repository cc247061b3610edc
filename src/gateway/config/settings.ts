import type { StoreSettings } from '../admission/engines/open.js';
import type { Plans } from '../admission/plan.js';

/** Everything the gateway runs on, checked and complete. `load` makes it from files and environment. */
export interface Settings {
  readonly environment: 'development' | 'staging' | 'production';
  /** Public listener. With `proxyProtocol` each of its connections begins with a PROXY header. */
  readonly listen: { readonly host: string; readonly port: number; readonly proxyProtocol: boolean };
  /** null: the public listener speaks plain HTTP. */
  readonly tls: TlsSettings | null;
  /** Whether clients may choose HTTP/2, which only TLS lets them. */
  readonly http2: boolean;
  /** Operators' listener: metrics, health, admin API. */
  readonly admin: { readonly host: string; readonly port: number };
  /** Processes that serve the public port; 1 means no children. `auto` is resolved to the CPUs there are. */
  readonly workers: number;
  /** Absolute path of the folder for everything the gateway keeps on disk. */
  readonly dataFolder: string;
  /** Absolute path of the OpenAPI document. */
  readonly contract: string;
  readonly store: StoreSettings;
  /** By the name openapi.yaml calls the service; one without addresses is announced but not there yet. */
  readonly upstreams: Readonly<Record<string, UpstreamSettings>>;
  readonly limits: EdgeLimits;
  /** null: answers say nothing of CORS. */
  readonly cors: CorsSettings | null;
  /** Peers whose word on an address is believed, X-Forwarded-For or PROXY header: addresses or CIDR blocks. */
  readonly trustedProxies: readonly string[];
  /** Realm of WWW-Authenticate. */
  readonly realm: string;
  readonly plans: Plans;
  readonly keys: {
    /** Whether tokens not of our form are looked up at all. */
    readonly acceptImported: boolean;
  };
  readonly log: { readonly level: LogLevel; readonly access: boolean; readonly sampled: number };
  readonly shutdownMs: number;
}

/** Absolute paths of two PEM files. */
export interface TlsSettings {
  /** The certificate, then those that signed it. */
  readonly cert: string;
  readonly key: string;
}

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';

export interface UpstreamSettings {
  /** `http://host:port` or `unix:/path`. */
  readonly addresses: readonly string[];
  /** Connections per address; as many requests run at once, some more wait. */
  readonly connections: number;
  /** Safe requests that may go out in one write and be answered one after the other; 1: none. */
  readonly pipelining: number;
  readonly connectMs: number;
  /** From dispatch to the last byte of the answer. */
  readonly deadlineMs: number;
  /** null: nobody asks, and an address is judged by the requests sent to it. */
  readonly health: HealthSettings | null;
  /** null: failures pass over no address. */
  readonly breaker: BreakerSettings | null;
}

/** When an address whose requests fail is passed over. */
export interface BreakerSettings {
  /** So many in a row. */
  readonly failures: number;
  /** Until the first trial; then twice that until the next, and so on up to `capMs`. */
  readonly openMs: number;
  readonly capMs: number;
}

/** How each address of an upstream is asked whether it wants requests. */
export interface HealthSettings {
  /** A GET of it answers 2xx while it does. */
  readonly path: string;
  readonly everyMs: number;
  readonly deadlineMs: number;
}

/** Which pages may use the API from a browser, and what of it. */
export interface CorsSettings {
  /** As browsers write them, patterns such as `https://*.example.com` among them; `*`: every one. */
  readonly origins: '*' | readonly string[];
  /** Names of fields that scripts may send. */
  readonly headers: readonly string[];
  /** Names of fields that scripts may read. */
  readonly expose: readonly string[];
  /** How long a browser may remember what a preflight said. */
  readonly maxAgeS: number;
  /** Whether pages may send cookies along. */
  readonly credentials: boolean;
}

/** Bounds of what a client may send; each has its refusal. */
export interface EdgeLimits {
  readonly headerBytes: number;
  readonly headerFields: number;
  readonly urlBytes: number;
  readonly bodyBytes: number;
  /** For a request's whole header. */
  readonly headersMs: number;
  /** For a whole request, body included. */
  readonly requestMs: number;
  readonly keepAliveMs: number;
  readonly connections: number;
  readonly requestsPerConnection: number;
  /** Exchanges at once; above it 503 `overloaded`. */
  readonly exchanges: number;
  /** Requests at once on one connection of HTTP/2; further ones are reset. */
  readonly streams: number;
  /** Exchanges at once, beside those, that wait for their client: for its body, or until it takes the answer. */
  readonly waiting: number;
  /** Bytes of bodies held at once. */
  readonly bodiesBytes: number;
  /** The part of both that one address may take, 0 to 1. */
  readonly callerShare: number;
  /** Requests that wait for the answer before theirs on a connection; above it the connection is read no further, and closed. */
  readonly pipelined: number;
  /** Tunnels at once, handshakes under way included; above it 503 `overloaded`. */
  readonly tunnels: number;
  /** How long a tunnel may carry nothing, either way. */
  readonly tunnelIdleMs: number;
  /** How long a tunnel may last at all. */
  readonly tunnelLifetimeMs: number;
}
