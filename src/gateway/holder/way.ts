import type { AddressReader } from '../edge/client-address.js';
import { lowerName } from '../edge/fields.js';
import type { Exchange } from '../exchange.js';

/** How private the connection to the browser is: `tls`, `loopback` (within this machine), or `open` to others. */
export type Way = 'tls' | 'loopback' | 'open';

/** Hosts that mean this machine to the browser, too. Otherwise the peer may be a local proxy for a remote browser. */
const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;
const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/;

/** Returns how private the connection is. No key may be sent over an `open` one: anyone in between could read it. */
export function wayOf({ client, host, received }: Exchange, { trusts }: Pick<AddressReader, 'trusts'>): Way {
  const { peerAddress: address, isEncrypted } = client;
  const schemes = trusts(address) ? schemesIn(received) : [];
  if (schemes.length > 0) return schemes.every((scheme) => scheme === 'https') ? 'tls' : 'open';
  if (isEncrypted) return 'tls';
  return LOOPBACK.test(address ?? '') && LOOPBACK_HOST.test(host ?? '') ? 'loopback' : 'open';
}

/** Returns the schemes that proxies report; the first is the browser's. */
function schemesIn(received: readonly string[]): readonly string[] {
  return valuesOf(received, 'x-forwarded-proto').flatMap((value) =>
    value.split(',').map((scheme) => scheme.trim().toLowerCase()),
  );
}

/** Returns all values of a header field, given its lower-case name. */
export function valuesOf(received: readonly string[], wanted: string): readonly string[] {
  return received.filter((_value, index) => index % 2 === 1 && lowerName(received[index - 1]!) === wanted);
}
