import { BlockList, isIP, isIPv6 } from 'node:net';

/** What is not on the public internet (IANA special-purpose registries, RFC 6890), IPv4. */
const IPV4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // Azure's own services, reachable from each of its machines.
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

/** Of IPv6 only 2000::/3 is public; without Teredo, 6to4 and the like, which hold IPv4 addresses, and examples. */
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
 * Whether an IP address is of this machine, a private network, or otherwise not of the public internet. So are all
 * IPv6 addresses that hold an IPv4 one (mapped, NAT64), and whatever is no address.
 */
export function isLocalAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return local.check(address, 'ipv4');
  return family === 0 || !global6.check(address, 'ipv6') || local.check(address, 'ipv6');
}

/** Whether an address is one of `blocks`: addresses or CIDR blocks such as 10.0.0.0/8. */
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
