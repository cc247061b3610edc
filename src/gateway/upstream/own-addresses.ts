import type { UpstreamSettings } from '../config/settings.js';
import type { Exchange } from '../exchange.js';
import { destinationOf } from './addresses/destination.js';

/** By what an upstream's responses may name itself, worked out once. */
export interface OwnAddresses {
  /** Its origins, such as `http://10.0.0.7:3000`, each with the path that stands in front there. */
  readonly origins: ReadonlyMap<string, string>;
  /** Its host names, in lower case. */
  readonly names: ReadonlySet<string>;
  /** What the gateway's paths begin with, and its own don't. */
  readonly stripPrefix: string;
}

const SLASH = 47;
const ABSOLUTE = /^(https?:\/\/[^/?#]+)(.*)$/is;
const DOMAIN = /^domain=/i;

export function ownAddressesOf({ addresses, stripPrefix }: UpstreamSettings): OwnAddresses {
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
 * A `Location` or `Content-Location` with the address that the client called, where it names the upstream's own:
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

/** A `Set-Cookie` without a Domain that is the upstream's: the cookie is then for the host that the client called. */
export function rewrittenCookie(value: string, own: OwnAddresses): string {
  const isOwn = (attribute: string): boolean => {
    const [, domain] = attribute.trim().split(DOMAIN);
    return domain !== undefined && own.names.has(domain.trim().replace(/^\./, '').toLowerCase());
  };
  const [pair, ...attributes] = value.split(';');
  return attributes.some(isOwn) ? [pair, ...attributes.filter((attribute) => !isOwn(attribute))].join(';') : value;
}

/** Whole segments only: `/v1` is no part of `/v10/pets`. */
export function withoutPrefix(path: string, prefix: string): string {
  if (prefix === '' || !path.startsWith(prefix)) return path;
  if (path.length === prefix.length) return '/';
  return path.charCodeAt(prefix.length) === SLASH ? path.slice(prefix.length) : path;
}
