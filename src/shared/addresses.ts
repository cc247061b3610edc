import { BlockList, isIP, isIPv6 } from 'node:net';

/** IPv4 blocks that are not on the public internet (IANA special-purpose registries, RFC 6890). */
const IPV4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // Azure's platform services, reachable from every machine in Azure.
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const;

/**
 * Exceptions from 2000::/3, the only public IPv6 block: Teredo, 6to4 and the like, which contain IPv4 addresses, and
 * documentation blocks.
 */
const IPV6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const;

const local = new BlockList();
for (const [address, bits] of IPV4) local.addSubnet(address, bits, 'ipv4');
for (const [address, bits] of IPV6) local.addSubnet(address, bits, 'ipv6');
const global6 = new BlockList();
global6.addSubnet('2000::', 3, 'ipv6');

/**
 * Returns whether an IP address belongs to this machine, to a private network, or otherwise not to the public internet.
 * True also for IPv6 addresses that contain an IPv4 one (mapped, NAT64), and for text that is no address.
 */
export function isLocalAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return local.check(address, 'ipv4');
  return family === 0 || !global6.check(address, 'ipv6') || local.check(address, 'ipv6');
}

/** Returns a function that tells whether an address is in `blocks`: addresses or CIDR blocks such as 10.0.0.0/8. */
export function createNetworks(blocks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const block of blocks) {
    const [address = '', bits] = block.split('/');
    if (bits === undefined) list.addAddress(address, familyOf(address));
    else list.addSubnet(address, Number(bits), familyOf(address));
  }
  return (address) => list.check(address, familyOf(address));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4';
}
