import { isIP, SocketAddress } from 'node:net';

/** A header of version 1 is one line of at most this many bytes. */
const MAX_TEXT_BYTES = 107;
/** Of version 2: far more than any addresses, with room for what balancers add to them. */
const MAX_BINARY_BYTES = 1024;

const TEXT_START = Buffer.from('PROXY ', 'latin1');
const BINARY_START = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
const BINARY_HEAD_BYTES = 16;

const PORT = '(0|[1-9][0-9]{0,4})';
const TEXT = new RegExp(
  `^PROXY (?:UNKNOWN(?: [^\\r\\n]*)?|TCP([46]) ([0-9A-Fa-f:.]+) ([0-9A-Fa-f:.]+) ${PORT} ${PORT})$`,
);

/** Bytes of addresses and ports by family: none, IPv4, IPv6, Unix. */
const ADDRESS_BYTES = [0, 12, 36, 216] as const;
const LOCAL = 0;
const PROXIED = 1;
const STREAM = 1;

/** What the first bytes of a connection are: too few to tell, none of this protocol, or a header. */
export type ProxyReading = 'incomplete' | 'malformed' | ProxyHeader;

export interface ProxyHeader {
  /** Bytes it took; what follows is none of it. */
  readonly length: number;
  /** Whose connection was passed on; null when the sender speaks for itself, or for nobody with an address. */
  readonly source: string | null;
}

/**
 * Reads a header of the PROXY protocol, version 1 or 2 (HAProxy's proxy-protocol.txt), and of it the source alone. The
 * same bytes give the same in whatever pieces they come.
 */
export function readProxyHeader(bytes: Buffer): ProxyReading {
  if (startsLike(bytes, TEXT_START)) return readText(bytes);
  return startsLike(bytes, BINARY_START) ? readBinary(bytes) : 'malformed';
}

/** As far as there are bytes. */
function startsLike(bytes: Buffer, start: Buffer): boolean {
  const length = Math.min(bytes.length, start.length);
  return bytes.subarray(0, length).equals(start.subarray(0, length));
}

function readText(bytes: Buffer): ProxyReading {
  const end = bytes.subarray(0, MAX_TEXT_BYTES).indexOf('\r\n');
  if (end === -1) return bytes.length < MAX_TEXT_BYTES ? 'incomplete' : 'malformed';
  const found = TEXT.exec(bytes.toString('latin1', 0, end));
  if (found === null) return 'malformed';
  const [, version, source = '', destination = '', ...ports] = found;
  const length = end + 2;
  if (version === undefined) return { length, source: null };
  const family = Number(version);
  if (isIP(source) !== family || isIP(destination) !== family || ports.some((port) => Number(port) > 65_535))
    return 'malformed';
  return { length, source: family === 6 ? canonicalIPv6(source) : source };
}

function readBinary(bytes: Buffer): ProxyReading {
  if (bytes.length < BINARY_HEAD_BYTES) return 'incomplete';
  const [version, command] = halves(bytes[12]!);
  const [family, transport] = halves(bytes[13]!);
  const length = BINARY_HEAD_BYTES + bytes.readUInt16BE(14);
  if (version !== 2 || command > PROXIED || length > MAX_BINARY_BYTES) return 'malformed';
  if (command === PROXIED && !addressesFit(family, transport, length)) return 'malformed';
  if (bytes.length < length) return 'incomplete';
  if (command === LOCAL || transport !== STREAM) return { length, source: null };
  if (family === 1) return { length, source: bytes.subarray(16, 20).join('.') };
  return {
    length,
    source: family === 2 ? canonicalIPv6(bytes.toString('hex', 16, 32).match(/.{4}/g)!.join(':')) : null,
  };
}

function halves(byte: number): readonly [number, number] {
  return [byte >> 4, byte & 15];
}

function addressesFit(family: number, transport: number, length: number): boolean {
  const bytes = ADDRESS_BYTES[family];
  if (bytes === undefined || transport > 2) return false;
  return transport === 0 || length >= BINARY_HEAD_BYTES + bytes;
}

/** As a socket says it. */
function canonicalIPv6(address: string): string {
  return new SocketAddress({ address, family: 'ipv6' }).address;
}
