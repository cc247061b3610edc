import { ADDRCONFIG } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { repeat } from '../../../shared/turns/repeat.js';
import type { UpstreamSettings } from '../../config/schema/upstream.js';
import { secureContextOf } from '../http1/tls.js';
import { openAddress, type Address, type AddressEvents } from './address.js';
import { destinationOf, isNamed, resolvedTo, type Destination } from './destination.js';
import { watchAddress } from './health.js';

/** Addresses of one name beyond this are ignored: each has connections and a health check. */
const MAX_RESOLVED = 64;

/** Resolves a name to its current IP addresses. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** Resolves as the system does, with /etc/hosts; without IPv6 if this machine has none. */
export const resolve: Resolve = async (name) => {
  const answer = await lookup(name, { all: true, hints: ADDRCONFIG });
  return answer.map(({ address }) => address);
};

/**
 * Opens the addresses of an upstream. A name is used as it is until it is resolved, then each of its addresses, which
 * are kept up to date: `all` changes in place. While a name can't be resolved, its last addresses stay.
 */
export function openAddresses(settings: UpstreamSettings, events: AddressEvents, resolveName: Resolve) {
  const destinations = settings.addresses.map(destinationOf);
  const context = destinations.some(({ isSecure }) => isSecure) ? secureContextOf(settings.tls) : null;
  const all: Address[] = [];
  /** Including retired ones with requests in flight; each with a function that ends its health check. */
  const opened = new Map<Address, () => void>();
  let stopped = false;

  const open = (destination: Destination): Address => {
    const { health, connect } = settings;
    const address = openAddress(destination, settings, context, events);
    all.push(address);
    opened.set(address, health === undefined ? () => undefined : watchAddress(address, health, connect));
    return address;
  };
  /** Requests in flight end there; those that have not been sent yet go elsewhere. */
  const retire = async (address: Address): Promise<void> => {
    all.splice(all.indexOf(address), 1);
    opened.get(address)?.();
    for (const attempt of address.underWay.items()) attempt.withdraw();
    await address.pool.close();
    opened.delete(address);
  };
  const follow = (destination: Destination): (() => Promise<void>) => {
    let known = new Map([['', open(destination)]]);
    let unused: readonly string[] = [];
    let failing: string | null = null;
    const report = (code: string | null): void => {
      if (code !== failing) events.unresolved(destination.hostname, code);
      failing = code;
    };
    const ask = async (): Promise<void> => {
      const answer = [...new Set(await resolveName(destination.hostname))].slice(0, MAX_RESOLVED);
      if (stopped) return;
      if (answer.length === 0) throw Object.assign(new Error('no address'), { code: 'ENODATA' });
      report(null);
      const isReached = (ip: string): boolean | null =>
        unused.includes(ip) ? false : (known.get(ip)?.reached ?? null);
      const used = withoutLostFamily(answer, isReached);
      unused = answer.filter((ip) => !used.includes(ip));
      const next = new Map(used.map((ip) => [ip, known.get(ip) ?? open(resolvedTo(destination, ip))]));
      for (const [ip, address] of known) if (!next.has(ip)) void retire(address);
      known = next;
    };
    return repeat(settings.resolve, ask, (error) => report((error as NodeJS.ErrnoException).code ?? 'unknown'));
  };
  const stops: (() => Promise<void>)[] = [];
  for (const destination of destinations)
    if (isNamed(destination)) stops.push(follow(destination));
    else open(destination);

  const stop = (): void => {
    stopped = true;
    for (const end of stops) void end();
    for (const unwatch of opened.values()) unwatch();
  };
  return {
    all: all as readonly Address[],
    retire: async (): Promise<void> => {
      stop();
      await Promise.all([...opened.keys()].map(({ pool }) => pool.close()));
    },
    close: (): void => {
      stop();
      for (const { pool } of opened.keys()) pool.destroy();
    },
  };
}

/** A machine may have no route to one family: drops its addresses if none was reached and one of the other was. */
function withoutLostFamily(answer: readonly string[], isReached: (ip: string) => boolean | null): readonly string[] {
  const [v4, v6] = [4, 6].map((family) => answer.filter((ip) => isIP(ip) === family)) as [string[], string[]];
  const beats = (one: readonly string[], other: readonly string[]): boolean =>
    one.some((ip) => isReached(ip) === true) && other.every((ip) => isReached(ip) === false);
  return beats(v4, v6) ? v4 : beats(v6, v4) ? v6 : answer;
}
