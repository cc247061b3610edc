import { Pool } from 'undici';
import type { UpstreamSettings } from '../config/settings.js';

/** How long an address that could not be reached is passed over while another is there. */
const DOWN_MS = 1000;
/** Idle connections are dropped well before a server drops them, or a request meets a dying one. */
const IDLE_MS = 4000;
/** Requests that may wait for a connection, as a multiple of the connections: the pool itself has no bound. */
const WAITING_FACTOR = 4;

/** One address of an upstream. */
export interface Address {
  readonly url: string;
  readonly pool: Pool;
  inFlight: number;
  /** Tunnels open to it; they are no load of the pool. */
  tunnels: number;
  downUntilMs: number;
  /** Whether the last attempt got a connection; true before the first. */
  reached: boolean;
}

export interface Upstream {
  readonly name: string;
  readonly addresses: readonly Address[];
  readonly deadlineMs: number;
  readonly settings: UpstreamSettings;
  /** The least loaded address that is up, else the one that was down longest; null when all are full. For a tunnel, tunnels are the load. */
  pick(except: Address | null, forTunnel?: boolean): Address | null;
  /** Closes the pools when what they carry has ended. */
  retire(): Promise<void>;
  /** Cuts whatever there is. */
  close(): Promise<void>;
}

export type Upstreams = ReadonlyMap<string, Upstream>;

/**
 * Opens a keep-alive pool for each address; nothing is dialled yet.
 * @param before those there are: one whose settings stay is kept with its connections
 */
export function openUpstreams(settings: Readonly<Record<string, UpstreamSettings>>, before: Upstreams = new Map()): Upstreams {
  const named = Object.entries(settings).filter(([, upstream]) => upstream.addresses.length > 0);
  return new Map(named.map(([name, upstream]) => [name, sameOf(before.get(name), upstream) ?? openUpstream(name, upstream)]));
}

/** Closes those of `before` that `now` no longer holds, once `afterMs` is over: exchanges begun with them may still come. */
export function retireUpstreams(before: Upstreams, now: Upstreams, afterMs: number): void {
  for (const [name, upstream] of before) {
    if (now.get(name) !== upstream) setTimeout(() => void upstream.retire(), afterMs).unref();
  }
}

function sameOf(upstream: Upstream | undefined, settings: UpstreamSettings): Upstream | undefined {
  return JSON.stringify(upstream?.settings) === JSON.stringify(settings) ? upstream : undefined;
}

function openUpstream(name: string, settings: UpstreamSettings): Upstream {
  const addresses = settings.addresses.map((url) => openAddress(url, settings));
  const full = settings.connections * (1 + WAITING_FACTOR);
  return {
    name,
    addresses,
    deadlineMs: settings.deadlineMs,
    settings,
    pick(except, forTunnel = false) {
      const nowMs = performance.now();
      let best: Address | null = null;
      for (const address of addresses) {
        if (address.inFlight >= full || (address === except && addresses.length > 1)) continue;
        if (best === null || preferred(address, best, nowMs, forTunnel)) best = address;
      }
      return best;
    },
    retire: async () => {
      await Promise.all(addresses.map(({ pool }) => pool.close()));
    },
    close: async () => {
      await Promise.all(addresses.map(({ pool }) => pool.destroy()));
    },
  };
}

function preferred(one: Address, other: Address, nowMs: number, forTunnel: boolean): boolean {
  const oneDown = one.downUntilMs > nowMs;
  const otherDown = other.downUntilMs > nowMs;
  if (oneDown !== otherDown) return otherDown;
  if (oneDown) return one.downUntilMs < other.downUntilMs;
  return forTunnel ? one.tunnels + one.inFlight < other.tunnels + other.inFlight : one.inFlight < other.inFlight;
}

export function markDown(address: Address): void {
  address.downUntilMs = performance.now() + DOWN_MS;
}

function openAddress(url: string, settings: UpstreamSettings): Address {
  const socketPath = url.startsWith('unix:') ? url.slice('unix:'.length) : null;
  const origin = socketPath === null ? url : 'http://localhost';
  const pool = new Pool(origin, {
    connections: settings.connections,
    pipelining: 1,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    // The exchange has one deadline of its own; undici's tick too coarsely for it.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: settings.connectMs, ...(socketPath === null ? {} : { socketPath }) },
    ...(socketPath === null ? {} : { socketPath }),
  });
  return { url, pool, inFlight: 0, tunnels: 0, downUntilMs: 0, reached: true };
}
