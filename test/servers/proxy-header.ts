import { isIPv6 } from 'node:net';

const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');

/** One end of a connection. */
export interface End {
  readonly address: string;
  readonly port: number;
}

/** The line of version 1 for a connection from `source`. */
export function textHeader(source: End, destination: End): Buffer {
  return Buffer.from(
    `PROXY TCP${isIPv6(source.address) ? 6 : 4} ${source.address} ${destination.address} ${source.port} ` +
      `${destination.port}\r\n`,
  );
}

/**
 * A header of version 2 as raw bytes say it: command and family as they stand in their byte, then what follows the
 * head.
 */
export function binaryHeader(command: number, family: number, rest: Buffer, length = rest.length): Buffer {
  return Buffer.concat([SIGNATURE, Buffer.from([command, family, length >> 8, length & 0xff]), rest]);
}

/** Version 2 for a connection from `source`, with vectors (type, value) behind the addresses. */
export function proxiedHeader(
  source: End,
  destination: End,
  vectors: readonly (readonly [number, Buffer])[] = [],
): Buffer {
  const ends = [source, destination];
  const addresses = ends.map(({ address }) =>
    isIPv6(address) ? bytesOfIPv6(address) : Buffer.from(address.split('.').map(Number)),
  );
  const ports = ends.map(({ port }) => Buffer.from([port >> 8, port & 0xff]));
  const tail = vectors.map(([type, value]) =>
    Buffer.concat([Buffer.from([type, value.length >> 8, value.length & 0xff]), value]),
  );
  return binaryHeader(0x21, isIPv6(source.address) ? 0x21 : 0x11, Buffer.concat([...addresses, ...ports, ...tail]));
}

/** Of an address written out in eight groups. */
function bytesOfIPv6(address: string): Buffer {
  return Buffer.from(
    address
      .split(':')
      .map((group) => group.padStart(4, '0'))
      .join(''),
    'hex',
  );
}
