import type { UpstreamSettings } from '../config/schema/upstream.js';
import type { Exchange } from '../exchange.js';
import { destinationOf } from './addresses/destination.js';

/** Names that an upstream may use for itself in responses, built once. */
export interface OwnAddresses {
  /** Its origins, such as `http://10.0.0.7:3000`, each with its path prefix. */
  readonly origins: ReadonlyMap<string, string>;
  /** Its host names, in lower case. */
  readonly names: ReadonlySet<string>;
  /** Prefix of the gateway's paths that the upstream's lack. */
  readonly stripPrefix: string;
}

const SLASH = 47;
const ABSOLUTE = /^(https?:\/\/[^/?#]+)(.*)$/is;
const DOMAIN = /^domain=/i;

export function ownAddressesOf({ addresses, strip_prefix: stripPrefix = '' }: UpstreamSettings): OwnAddresses {
  const destinations = addresses.map(destinationOf);
  const origins = destinations.map(({ isSecure, host, prefix }) => [
    new URL(`${isSecure ? 'https' : 'http'}://${host}`).origin,
    prefix,
  ]) satisfies [string, string][];
  return {
    origins: new Map(origins),
    names: new Set(destinations.map(({ hostname }) => hostname.toLowerCase())),
    stripPrefix,
  };
}

/**
 * Replaces the upstream's own address in `Location` or `Content-Location` with the one that the client called:
 * `http://10.0.0.7:3000/api/pets/7` becomes `https://api.example.com/v1/pets/7`. Anything else stays.
 */
export function rewrittenLocation(value: string, own: OwnAddresses, { scheme, publicHost }: Exchange): string {
  const [, address = '', rest = ''] = ABSOLUTE.exec(value) ?? [];
  if (address === '' || !URL.canParse(address)) return value;
  const prefix = own.origins.get(new URL(address).origin);
  const path = rest.startsWith('/') ? rest : `/${rest}`;
  if (prefix === undefined || !isBelow(path, prefix)) return value;
  const origin = publicHost === null ? '' : `${scheme}://${publicHost}`;
  return origin + own.stripPrefix + withoutPrefix(path, prefix);
}

function isBelow(path: string, prefix: string): boolean {
  return prefix === '' || path === prefix || path.startsWith(`${prefix}/`) || path.startsWith(`${prefix}?`);
}

/** Removes the upstream's own Domain from `Set-Cookie`: the cookie is then for the host that the client called. */
export function rewrittenCookie(value: string, own: OwnAddresses): string {
  const isOwn = (attribute: string): boolean => {
    const [, domain] = attribute.trim().split(DOMAIN);
    return domain !== undefined && own.names.has(domain.trim().replace(/^\./, '').toLowerCase());
  };
  const [pair, ...attributes] = value.split(';');
  return attributes.some(isOwn) ? [pair, ...attributes.filter((attribute) => !isOwn(attribute))].join(';') : value;
}

/** Only whole segments: `/v1` is not a prefix of `/v10/pets`. */
export function withoutPrefix(path: string, prefix: string): string {
  if (prefix === '' || !path.startsWith(prefix)) return path;
  if (path.length === prefix.length) return '/';
  return path.charCodeAt(prefix.length) === SLASH ? path.slice(prefix.length) : path;
}
