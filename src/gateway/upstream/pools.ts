import type { UpstreamSettings } from '../config/settings.js';
import { REFUSALS, type Refusal } from '../refusal.js';
import type { Address } from './addresses/address.js';
import type { BreakerChange } from './addresses/breaker.js';
import { openAddresses, resolve, type Resolve } from './addresses/open.js';
import { maxOf } from './addresses/share.js';
import { timeLimitsOf } from './deadline.js';
import type { OnUpstreamFailure } from './failure.js';
import { Slots } from './addresses/slots.js';
import { Retries } from './retries.js';
import { Uploads } from './uploads.js';

/** Requests that may wait for a connection, as a multiple of the connections: the pool itself has no bound. */
const WAITING_FACTOR = 4;

export type Upstream = ReturnType<typeof openUpstream>;
export type Upstreams = ReadonlyMap<string, Upstream>;

/** What happens at upstreams, for who watches. */
export interface UpstreamEvents {
  readonly breakerChanged: (upstream: string, address: Address, change: BreakerChange) => void;
  /** TLS could not be agreed on. @param code of Node or OpenSSL */
  readonly tlsFailed: (upstream: string, address: Address, code: string) => void;
  /** A name could not be resolved, or can be again: null. @param code of Node */
  readonly unresolved: (upstream: string, name: string, code: string | null) => void;
}

/**
 * Opens a keep-alive pool for each address; nothing is dialled yet.
 * @param before an upstream whose settings stay is kept from these, with its connections
 */
export function openUpstreams(
  settings: Readonly<Record<string, UpstreamSettings>>,
  events: UpstreamEvents,
  before: Upstreams = new Map(),
  resolveName: Resolve = resolve,
): Upstreams {
  const named = Object.entries(settings).filter(([, upstream]) => upstream.addresses.length > 0);
  return new Map(
    named.map(([name, upstream]) => [
      name,
      sameOf(before.get(name), upstream) ?? openUpstream(name, upstream, events, resolveName),
    ]),
  );
}

/** Closes those of `before` that are not in `now`, after `afterMs`: exchanges begun with them may still come. */
export function retireUpstreams(before: Upstreams, now: Upstreams, afterMs: number): void {
  for (const [name, upstream] of before) {
    if (now.get(name) !== upstream) setTimeout(() => void upstream.retire(), afterMs).unref();
  }
}

function sameOf(upstream: Upstream | undefined, settings: UpstreamSettings): Upstream | undefined {
  return JSON.stringify(upstream?.settings) === JSON.stringify(settings) ? upstream : undefined;
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
  const full = settings.connections * (1 + WAITING_FACTOR);
  const shareFull = maxOf(settings.connections) * (1 + WAITING_FACTOR);
  const takesMore = (address: Address, operation: string, evenFull: boolean): boolean => {
    const { breaker, underWay, shareOf } = address;
    // A trial is let through however many hang there.
    if (breaker.isOpen) return breaker.dueMs <= performance.now();
    return evenFull || (underWay.size < full && shareOf(operation).size < shareFull);
  };
  const slots = new Slots(addresses, { all: full, operation: shareFull });
  return {
    name,
    addresses,
    settings,
    timeLimits: timeLimitsOf(name, settings),
    retries: new Retries(),
    uploads: new Uploads(() => settings.connections * addresses.length),
    /** A place for a request; null when all addresses are full, of this operation or at all, or their breakers open. */
    reserve: (operation: string): ReturnType<Slots['take']> => slots.take(operation),
    /**
     * The address to ask: a healthy one if any, of these one due for a trial, else the least loaded; null when all
     * breakers are open. For a tunnel, tunnels are the load.
     * @param after the one that just failed: any other that is not full is better. Null of a request that had a place:
     * it is taken in however full they are by now
     */
    pick(operation: string, after: Address | null, forTunnel = false): Address | null {
      const bestOf = (evenFull: boolean): Address | null => {
        let best: Address | null = null;
        for (const one of addresses)
          if (one !== after && takesMore(one, operation, evenFull))
            best = best === null || preferred(one, best, forTunnel) ? one : best;
        return best;
      };
      const best = bestOf(false);
      if (best !== null) return best;
      if (after === null) return bestOf(true);
      return addresses.includes(after) && takesMore(after, operation, false) ? after : null;
    },
    /** While every breaker is open: how long until one is due, 0 at least; else null. */
    waitMs: (): number | null =>
      addresses.every(({ breaker }) => breaker.isOpen)
        ? Math.max(0, Math.min(...addresses.map(({ breaker }) => breaker.dueMs)) - performance.now())
        : null,
    retire: opened.retire,
    close: opened.close,
  };
}

/** Of two that take more: which goes first. An open one is due here, and would never close if load decided. */
function preferred(one: Address, other: Address, forTunnel: boolean): boolean {
  if (one.healthy !== other.healthy) return one.healthy;
  if (one.breaker.isOpen !== other.breaker.isOpen) return one.breaker.isOpen;
  return forTunnel
    ? one.tunnels + one.underWay.size < other.tunnels + other.underWay.size
    : one.underWay.size < other.underWay.size;
}

/** What is said where an upstream takes no request: it is full, or passed over. */
export function noSlot(upstream: Upstream, onFailure: OnUpstreamFailure): Refusal {
  const isFull = upstream.waitMs() === null;
  onFailure(upstream.name, isFull ? 'full' : 'open');
  return isFull ? REFUSALS.overloaded : unavailable(upstream);
}

/** Tells when a retry can succeed at the earliest. */
export function unavailable(upstream: Upstream): Refusal {
  return { ...REFUSALS.upstream_unavailable, retryAfterS: Math.max(1, Math.ceil((upstream.waitMs() ?? 0) / 1000)) };
}
