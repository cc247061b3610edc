import type { UpstreamSettings } from '../config/settings.js';
import { isDown, openAddress } from './address.js';
import type { Address } from './address.js';
import { watchAddress } from './health.js';
import { Retries } from './retries.js';

/** Requests that may wait for a connection, as a multiple of the connections: the pool itself has no bound. */
const WAITING_FACTOR = 4;

export interface Upstream {
  readonly name: string;
  readonly addresses: readonly Address[];
  readonly deadlineMs: number;
  readonly settings: UpstreamSettings;
  readonly retries: Retries;
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
  const { health } = settings;
  const watches = health === null ? [] : addresses.map((address) => watchAddress(address, health, settings.connectMs));
  const unwatch = (): void => watches.forEach((stop) => stop());
  return {
    name,
    addresses,
    deadlineMs: settings.deadlineMs,
    settings,
    retries: new Retries(),
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
      unwatch();
      await Promise.all(addresses.map(({ pool }) => pool.close()));
    },
    close: async () => {
      unwatch();
      await Promise.all(addresses.map(({ pool }) => pool.destroy()));
    },
  };
}

function preferred(one: Address, other: Address, nowMs: number, forTunnel: boolean): boolean {
  const oneDown = isDown(one, nowMs);
  const otherDown = isDown(other, nowMs);
  if (oneDown !== otherDown) return otherDown;
  if (oneDown && one.downUntilMs !== other.downUntilMs) return one.downUntilMs < other.downUntilMs;
  return forTunnel ? one.tunnels + one.inFlight < other.tunnels + other.inFlight : one.inFlight < other.inFlight;
}
