import { Bag } from '../../shared/bag.js';
import type { UpstreamSettings } from '../config/settings.js';
import { Breaker, type BreakerChange } from './breaker.js';
import type { Target } from './http1/dial.js';
import { Pool } from './http1/pool.js';
import { Share } from './share.js';

/** Idle connections are dropped well before a server drops them, or a request meets a dying one. */
const IDLE_MS = 4000;

export interface Address {
  readonly url: string;
  readonly pool: Pool;
  /** Tunnels open to it; they are no load of the pool. */
  tunnels: number;
  /** Whether the last attempt got a connection; true before the first. */
  reached: boolean;
  /** Whether it says that it wants requests; true while nobody asked. */
  healthy: boolean;
  readonly breaker: Breaker;
  /** Attempts begun and not ended. */
  readonly underWay: Bag<{ withdraw(): void }>;
  /** The part of one operation in them. */
  readonly shareOf: (operation: string) => Share;
  /** Attempts that wait for another of their operation to end. */
  readonly waiting: () => number;
}

export function openAddress(
  url: string,
  settings: UpstreamSettings,
  onBreakerChange: (change: BreakerChange) => void,
): Address {
  const { connections, connectMs } = settings;
  const pool = new Pool({ ...destination(url), connections, connectMs, idleMs: IDLE_MS });
  const underWay: Address['underWay'] = new Bag();
  const breaker = new Breaker(settings.breaker, (change) => {
    // Whoever still waits for a connection would wait in vain, and with each that times out one more would get to hang.
    if (change.open) for (const attempt of underWay.items()) attempt.withdraw();
    onBreakerChange(change);
  });
  const shares = new Map<string, Share>();
  const shareOf = (operation: string): Share => {
    let share = shares.get(operation);
    if (share === undefined) shares.set(operation, (share = new Share(settings.connections)));
    return share;
  };
  const waiting = (): number => [...shares.values()].reduce((sum, share) => sum + share.waiting, 0);
  return { url, pool, tunnels: 0, reached: true, healthy: true, breaker, underWay, shareOf, waiting };
}

/** Where the upstream listens, and what Host says there. */
export function destination(url: string): { readonly target: Target; readonly host: string } {
  if (url.startsWith('unix:')) return { target: { path: url.slice('unix:'.length) }, host: 'localhost' };
  const { hostname, port, host } = new URL(url);
  return { target: { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? 80 : Number(port) }, host };
}

/** How undici reaches `http://host:port` or `unix:/path`. */
export function dialOptions(
  url: string,
  connectMs: number,
): { readonly origin: string; readonly connect: { readonly timeout: number; readonly socketPath?: string } } {
  if (!url.startsWith('unix:')) return { origin: url, connect: { timeout: connectMs } };
  return { origin: 'http://localhost', connect: { timeout: connectMs, socketPath: url.slice('unix:'.length) } };
}

/** Whether it is passed over while another is there: it says that it wants no requests, or its breaker is open. */
export function isDown({ healthy, breaker }: Address): boolean {
  return !healthy || breaker.isOpen;
}
