import { Pool } from 'undici';
import type { UpstreamSettings } from '../config/settings.js';

/** How long an address that could not be reached is passed over while another is there. */
const DOWN_MS = 1000;
/** Idle connections are dropped well before a server drops them, or a request meets a dying one. */
const IDLE_MS = 4000;

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
  /** Whether it says that it wants requests; true while nobody asked. */
  healthy: boolean;
}

export function openAddress(url: string, settings: UpstreamSettings): Address {
  const { origin, ...dial } = dialOptions(url, settings.connectMs);
  const pool = new Pool(origin, {
    ...dial,
    connections: settings.connections,
    pipelining: 1,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    // The exchange has one deadline of its own; undici's tick too coarsely for it.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return { url, pool, inFlight: 0, tunnels: 0, downUntilMs: 0, reached: true, healthy: true };
}

/** How undici reaches `http://host:port` or `unix:/path`. */
export function dialOptions(url: string, connectMs: number): { readonly origin: string; readonly connect: { readonly timeout: number; readonly socketPath?: string } } {
  if (!url.startsWith('unix:')) return { origin: url, connect: { timeout: connectMs } };
  return { origin: 'http://localhost', connect: { timeout: connectMs, socketPath: url.slice('unix:'.length) } };
}

/** A connection could not be had: others go first for a moment. */
export function markDown(address: Address): void {
  address.downUntilMs = performance.now() + DOWN_MS;
}

/** Whether others go first. */
export function isDown({ healthy, downUntilMs }: Address, nowMs: number): boolean {
  return !healthy || downUntilMs > nowMs;
}
