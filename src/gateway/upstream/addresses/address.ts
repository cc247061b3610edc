import type { SecureContext } from 'node:tls';
import { Bag } from '../../../shared/bag.js';
import type { UpstreamSettings } from '../../config/settings.js';
import type { Peer } from '../http1/dial.js';
import { Pool } from '../http1/pool.js';
import { TlsClient } from '../http1/tls.js';
import { Breaker, type BreakerChange } from './breaker.js';
import type { Destination } from './destination.js';
import { Shares, type Places } from './share.js';

/** What TLS says against an address is repeated only after so long. */
const REPEAT_MS = 60_000;

interface UnderWay {
  readonly places: Places | null;
  withdraw(): void;
}

export interface Address {
  /** For people: as the settings say it, with the IP address of a name. */
  readonly url: string;
  readonly peer: Peer;
  /** What Host says there, and the path that stands in front of each request's. */
  readonly host: string;
  readonly prefix: string;
  readonly pool: Pool;
  /** Tunnels open to it; they are no load of the pool. */
  tunnels: number;
  /** Whether the last attempt got a connection, or before the first one the first health check; null before either. */
  reached: boolean | null;
  /** Whether it says that it wants requests; true while nobody asked. */
  healthy: boolean;
  readonly breaker: Breaker;
  /** Attempts begun and not ended. */
  readonly underWay: Bag<UnderWay>;
  /** The parts of operations and callers in them. */
  readonly shares: Shares;
}

/** What happens at an address, for who watches. */
export interface AddressEvents {
  readonly breakerChanged: (address: Address, change: BreakerChange) => void;
  /** TLS could not be agreed on. @param code of Node or OpenSSL */
  readonly tlsFailed: (address: Address, code: string) => void;
}

/** @param context of the upstream's connections; null where none of its addresses is https */
export function openAddress(
  { url, target, isSecure, hostname, host, prefix }: Destination,
  settings: UpstreamSettings,
  context: SecureContext | null,
  events: AddressEvents,
): Address {
  const { connections, connectMs, keepAliveMs: idleMs, responseLimits } = settings;
  const onTlsFailure = throttled((code) => events.tlsFailed(address, code));
  const tls =
    isSecure && context !== null ? new TlsClient(context, settings.servername ?? hostname, onTlsFailure) : null;
  const peer: Peer = { target, tls };
  const pool = new Pool({ ...peer, host, prefix, connections, connectMs, idleMs, responseLimits });
  const underWay: Address['underWay'] = new Bag();
  // It opens for some callers, then for all.
  let isKnownOpen = false;
  const breaker = new Breaker(settings.breaker, (change) => {
    // Those that still wait for a connection would wait in vain, and with each that times out one more would hang.
    if (change.open)
      for (const attempt of underWay.items())
        if (breaker.isOpenFor(attempt.places?.asking.caller ?? '')) attempt.withdraw();
    if (!change.open || !isKnownOpen) events.breakerChanged(address, change);
    isKnownOpen = change.open;
  });
  const shares = new Shares(settings.connections);
  const state = { tunnels: 0, reached: null, healthy: true };
  const address: Address = {
    ...{ url, peer, host, prefix, pool, breaker, underWay, shares },
    ...state,
  };
  return address;
}

/** Those that are not on their way yet go elsewhere. */
export function withdrawAll({ underWay }: Address): void {
  for (const attempt of underWay.items()) attempt.withdraw();
}

/** Whether all callers pass it over while another is there: it wants no requests, or its breaker is open for all. */
export function isDown({ healthy, breaker }: Address): boolean {
  return !healthy || breaker.isOpenForAll;
}

/** The same thing again only after a while. */
function throttled(report: (code: string) => void): (code: string) => void {
  let last = { code: '', atMs: 0 };
  return (code) => {
    const atMs = performance.now();
    if (code === last.code && atMs - last.atMs < REPEAT_MS) return;
    last = { code, atMs };
    report(code);
  };
}
