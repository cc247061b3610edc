import { isOwnOrigin } from '../pages/origin.js';
import type { AddressReader } from '../edge/client-address.js';
import { lowerName, onlyValueOf } from '../edge/fields.js';
import type { Exchange } from '../exchange.js';

/** How private the way to a browser is: `tls` all the way, `loopback` within this machine, or `open` to others. */
export type Way = 'tls' | 'loopback' | 'open';

/** Hosts that are this machine to a browser too: else it may be a proxy on it that somebody else comes by. */
const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;
const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/;

/** A key may be sent on no open way: whoever is in between could read it. */
export function wayOf({ client, host, received }: Exchange, { trusts }: Pick<AddressReader, 'trusts'>): Way {
  const { peerAddress: address, isEncrypted } = client;
  const schemes = trusts(address) ? schemesIn(received) : [];
  if (schemes.length > 0) return schemes.every((scheme) => scheme === 'https') ? 'tls' : 'open';
  if (isEncrypted) return 'tls';
  return LOOPBACK.test(address ?? '') && LOOPBACK_HOST.test(host ?? '') ? 'loopback' : 'open';
}

/** Whether the form of this request was sent by a page of our own. */
export function isOwnPost({ received, host }: Exchange, way: Way): boolean {
  return isOwnOrigin(onlyValueOf(received, 'origin'), host, way === 'tls');
}

/** What proxies say of how they were asked: the first was the browser's. */
function schemesIn(received: readonly string[]): readonly string[] {
  return valuesOf(received, 'x-forwarded-proto').flatMap((value) =>
    value.split(',').map((scheme) => scheme.trim().toLowerCase()),
  );
}

/** All values of a field. */
export function valuesOf(received: readonly string[], wanted: string): readonly string[] {
  return received.filter((_value, index) => index % 2 === 1 && lowerName(received[index - 1]!) === wanted);
}
