import type { SecureContext } from 'node:tls';
import { Bag } from '../../../shared/bag.js';
import type { UpstreamSettings } from '../../config/schema/upstream.js';
import type { Peer } from '../http1/dial.js';
import { Pool } from '../http1/pool.js';
import { TlsClient } from '../http1/tls.js';
import { Breaker, type BreakerChange } from './breaker.js';
import type { Destination } from './destination.js';
import { Shares, type Places } from './share.js';

/** Minimum interval between messages about the same TLS error of an address. */
const REPEAT_MS = 60_000;

interface UnderWay {
  readonly places: Places | null;
  withdraw(): void;
}

export interface Address {
  /** For messages: as in the settings, with the IP address of a name. */
  readonly url: string;
  readonly peer: Peer;
  /** Its Host field, and the prefix of each path. */
  readonly host: string;
  readonly prefix: string;
  readonly pool: Pool;
  /** Open tunnels; they do not load the pool. */
  tunnels: number;
  /** Whether the last attempt got a connection, or before the first one the first health check; null before either. */
  reached: boolean | null;
  /** Result of the health check; true without one. */
  healthy: boolean;
  readonly breaker: Breaker;
  /** Attempts in flight. */
  readonly underWay: Bag<UnderWay>;
  /** The shares of operations and callers. */
  readonly shares: Shares;
}

/** Events at the addresses of an upstream. */
export interface AddressEvents {
  readonly breakerChanged: (address: Address, change: BreakerChange) => void;
  /** The TLS handshake failed. @param code of Node or OpenSSL */
  readonly tlsFailed: (address: Address, code: string) => void;
  /** A name could not be resolved. @param code of Node; null: it can be again */
  readonly unresolved: (name: string, code: string | null) => void;
}

/** @param context TLS of the upstream's connections; null if no address is https */
export function openAddress(
  { url, target, isSecure, hostname, host, prefix }: Destination,
  settings: UpstreamSettings,
  context: SecureContext | null,
  events: AddressEvents,
): Address {
  const { connections, connect: connectMs, keep_alive: idleMs } = settings;
  const responseLimits = { headBytes: settings.response_head, fields: settings.response_fields };
  const onTlsFailure = throttled((code) => events.tlsFailed(address, code));
  const tls =
    isSecure && context !== null ? new TlsClient(context, settings.servername ?? hostname, onTlsFailure) : null;
  const peer: Peer = { target, tls };
  const pool = new Pool({ ...peer, host, prefix, connections, connectMs, idleMs, responseLimits });
  const underWay: Address['underWay'] = new Bag();
  // It opens for some callers first, then for all.
  let isKnownOpen = false;
  const breaker = new Breaker(settings.breaker, (change) => {
    // Requests still waiting for a connection would wait for nothing, and each timeout would let another one hang.
    if (change.open)
      for (const attempt of underWay.items())
        if (breaker.isOpenFor(attempt.places?.asking.caller ?? '')) attempt.withdraw();
    if (!change.open || !isKnownOpen) events.breakerChanged(address, change);
    isKnownOpen = change.open;
  });
  const shares = new Shares(settings.connections);
  const address: Address = {
    ...{ url, peer, host, prefix, pool, breaker, underWay, shares },
    ...{ tunnels: 0, reached: null, healthy: true },
  };
  return address;
}

/** Whether all callers skip it if there is another: its health check fails, or its breaker is open for all. */
export function isDown({ healthy, breaker }: Address): boolean {
  return !healthy || breaker.isOpenForAll;
}

/** Reports the same code again only after a while. */
function throttled(report: (code: string) => void): (code: string) => void {
  let last = { code: '', atMs: 0 };
  return (code) => {
    const atMs = performance.now();
    if (code === last.code && atMs - last.atMs < REPEAT_MS) return;
    last = { code, atMs };
    report(code);
  };
}
