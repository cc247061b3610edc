import type { UpstreamSettings } from '../config/schema/upstream.js';
import type { Asking } from '../exchange.js';
import { REFUSALS, type Refusal } from '../refusal.js';
import type { Address } from './addresses/address.js';
import type { BreakerChange } from './addresses/breaker.js';
import type { TokenState } from './attempt.js';
import { openAddresses, resolve, type Resolve } from './addresses/resolve.js';
import { withQueue } from './addresses/share.js';
import { timeLimitsOf } from './deadline.js';
import type { OnUpstreamFailure } from './addresses/failure.js';
import { Slots } from './addresses/slots.js';
import { Retries } from './retries.js';
import { Uploads } from './uploads.js';

export type Upstream = ReturnType<typeof openUpstream>;
export type Upstreams = ReadonlyMap<string, Upstream>;

/** Events at upstreams. */
export interface UpstreamEvents {
  readonly breakerChanged: (upstream: string, address: Address, change: BreakerChange) => void;
  /** The TLS handshake failed. @param code of Node or OpenSSL */
  readonly tlsFailed: (upstream: string, address: Address, code: string) => void;
  /** A name could not be resolved, or resolves again (null). @param code of Node */
  readonly unresolved: (upstream: string, name: string, code: string | null) => void;
  /** It refuses the internal token with 401, or no longer does. */
  readonly tokenRefused: (upstream: string, refused: boolean) => void;
}

/**
 * Opens a keep-alive pool for each address, without connecting yet.
 * @param before upstreams with unchanged settings are kept from these, with their connections
 */
export function openUpstreams(
  settings: Readonly<Record<string, UpstreamSettings>>,
  events: UpstreamEvents,
  before: Upstreams = new Map(),
  resolveName: Resolve = resolve,
): Upstreams {
  const named = Object.entries(settings).filter(([, upstream]) => upstream.addresses.length > 0);
  return new Map(
    named.map(([name, upstream]) => {
      const known = before.get(name);
      const isSame = known !== undefined && JSON.stringify(known.settings) === JSON.stringify(upstream);
      return [name, isSame ? known : openUpstream(name, upstream, events, resolveName)];
    }),
  );
}

/** Closes those of `before` that are not in `now`, after `afterMs`: exchanges may still be about to use them. */
export function retireUpstreams(before: Upstreams, now: Upstreams, afterMs: number): void {
  for (const [name, upstream] of before) {
    if (now.get(name) !== upstream) setTimeout(() => void upstream.retire(), afterMs).unref();
  }
}

function openUpstream(name: string, settings: UpstreamSettings, events: UpstreamEvents, resolveName: Resolve) {
  const opened = openAddresses(
    settings,
    {
      breakerChanged: (address, change) => events.breakerChanged(name, address, change),
      tlsFailed: (address, code) => events.tlsFailed(name, address, code),
      unresolved: (host, code) => events.unresolved(name, host, code),
    },
    resolveName,
  );
  const addresses = opened.all;
  const full = withQueue(settings.connections);
  const takesMore = ({ breaker, underWay, shares }: Address, asking: Asking, evenFull: boolean): boolean => {
    // A trial is sent even if many requests hang there.
    if (breaker.isOpenFor(asking.caller)) return breaker.dueMs <= performance.now();
    return evenFull || (underWay.size < full && shares.callerRoom(asking) > 0);
  };
  const internalToken =
    settings.authorization === 'internal' ? tokenState((refused) => events.tokenRefused(name, refused)) : null;
  const slots = new Slots(addresses, full);
  return {
    name,
    addresses,
    settings,
    internalToken,
    timeLimits: timeLimitsOf(name, settings),
    retries: new Retries(),
    uploads: new Uploads(() => settings.connections * addresses.length),
    /** Reserves a slot; null if the caller or operation has used its share, or all addresses are full or skipped. */
    reserve: (asking: Asking): ReturnType<Slots['take']> => slots.take(asking),
    /**
     * Returns the address for an attempt: a healthy one if any, among these one due for a trial, otherwise the least
     * loaded; null if all breakers are open. For a tunnel, the load includes tunnels.
     * @param after the previous attempt's address: any other that is not full is preferred, and null is returned if all
     * are full. Null for a first attempt: it had a slot, and is accepted even if all are full by now
     */
    pick(asking: Asking, after: Address | null, forTunnel = false): Address | null {
      const bestOf = (evenFull: boolean): Address | null => {
        let best: Address | null = null;
        for (const one of addresses)
          if (one !== after && takesMore(one, asking, evenFull))
            best = best === null || preferred(one, best, asking, forTunnel) ? one : best;
        return best;
      };
      const best = bestOf(false);
      if (best !== null) return best;
      if (after === null) return bestOf(true);
      return addresses.includes(after) && takesMore(after, asking, false) ? after : null;
    },
    /** Time until a trial is due, at least 0, while all breakers are open for this caller; otherwise null. */
    waitMs: ({ caller }: Asking): number | null =>
      addresses.every(({ breaker }) => breaker.isOpenFor(caller))
        ? Math.max(0, Math.min(...addresses.map(({ breaker }) => breaker.dueMs)) - performance.now())
        : null,
    retire: opened.retire,
    close: opened.close,
  };
}

function tokenState(onChange: (refused: boolean) => void): TokenState {
  let refused = false;
  return {
    get refused() {
      return refused;
    },
    set: (now) => {
      refused = now;
      onChange(now);
    },
  };
}

/** Whether `one` comes first; both are available. An open breaker is due for a trial, which load must not prevent. */
function preferred(one: Address, other: Address, { caller }: Asking, forTunnel: boolean): boolean {
  if (one.healthy !== other.healthy) return one.healthy;
  const isTrial = one.breaker.isOpenFor(caller);
  if (isTrial !== other.breaker.isOpenFor(caller)) return isTrial;
  return forTunnel
    ? one.tunnels + one.underWay.size < other.tunnels + other.underWay.size
    : one.underWay.size < other.underWay.size;
}

/** Returns the refusal for an upstream that takes no request: it is full, or all its breakers are open. */
export function noSlot(upstream: Upstream, asking: Asking, onFailure: OnUpstreamFailure): Refusal {
  const isFull = upstream.waitMs(asking) === null;
  onFailure(upstream.name, isFull ? 'full' : 'open');
  return isFull ? REFUSALS.overloaded : unavailable(upstream, asking);
}

/** Returns the refusal with the earliest time at which a retry can succeed. */
export function unavailable(upstream: Upstream, asking: Asking): Refusal {
  return {
    ...REFUSALS.upstream_unavailable,
    retryAfterS: Math.max(1, Math.ceil((upstream.waitMs(asking) ?? 0) / 1000)),
  };
}
