import { isIPv4, isIPv6 } from 'node:net';
import { createNetworks } from '../../shared/addresses.js';
import { ownText } from '../../shared/text/own-text.js';

export type AddressReader = ReturnType<typeof createAddressReader>;

/** Represents a peer that left before its address could be read. */
const UNKNOWN_ADDRESS = '0.0.0.0';
/** An address cut from a longer field must not keep the whole field in memory. */
const SHORT_FIELD = 128;

/**
 * Reads the caller's address: the socket's (undefined after a reset), or the one that trusted proxies report.
 * @param trustedProxies addresses or CIDR blocks whose X-Forwarded-For is trusted
 */
export function createAddressReader(trustedProxies: readonly string[]) {
  const isTrusted = createNetworks(trustedProxies);
  return {
    trusts: (remote: string | undefined): boolean => isTrusted(peerAddress(remote ?? '')),
    /** @param forwardedFor all values of X-Forwarded-For in order, joined by commas; null when absent */
    read(remote: string | undefined, forwardedFor: string | null): string {
      let address = peerAddress(remote ?? '');
      if (forwardedFor === null || trustedProxies.length === 0) return address;
      // From the nearest hop outwards: an entry counts as long as the hop that reported it is trusted.
      const hops = forwardedFor.split(',');
      while (hops.length > 0 && isTrusted(address)) {
        const hop = hops.pop()!.trim();
        // Empty list elements are ignored (RFC 9110 §5.6.1).
        if (hop === '') continue;
        const next = plainAddress(hop);
        if (next === null) return address;
        address = next;
      }
      return forwardedFor.length > SHORT_FIELD ? ownText(address) : address;
    },
  };
}

/** The bucket of an address: an IPv4 itself, an IPv6 its /64, the smallest block a caller is assigned. */
export function bucketOf(address: string): string {
  return address.includes(':') ? expandIPv6(address).slice(0, 4).join(':') : address;
}

/** Peers remembered. Beyond that, a peer is parsed each time. */
const MAX_PEERS = 1000;
const peers = new Map<string, string>();

function peerAddress(remote: string): string {
  const known = peers.get(remote);
  if (known !== undefined) return known;
  const address = plainAddress(remote) ?? UNKNOWN_ADDRESS;
  if (peers.size < MAX_PEERS) peers.set(remote, address);
  return address;
}

/** Without port, brackets, zone or IPv4-in-IPv6 notation; null if it is no address. */
function plainAddress(text: string): string | null {
  const bare =
    /^\[(.*)\](:\d+)?$/.exec(text)?.[1] ?? (/^[\d.]+:\d+$/.test(text) ? text.slice(0, text.indexOf(':')) : text);
  const address = bare.split('%', 1)[0]!;
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1] ?? address;
  return isIPv4(mapped) || isIPv6(mapped) ? mapped : null;
}

function expandIPv6(address: string): string[] {
  const [head = '', tail] = address.split('::');
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = tail === undefined ? [] : Array<string>(Math.max(0, 8 - front.length - back.length)).fill('0');
  return [...front, ...gap, ...back].map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''));
}
