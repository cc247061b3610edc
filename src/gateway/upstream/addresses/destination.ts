import { isIP } from 'node:net';
import type { Target } from '../http1/dial.js';

/** What an address of the settings says. */
export interface Destination {
  /** For people. */
  readonly url: string;
  readonly target: Target;
  readonly isSecure: boolean;
  /** The host as the address names it; of a socket `localhost`. */
  readonly hostname: string;
  /** What Host says there. */
  readonly host: string;
  /** The path prefix of every request, without a trailing slash. */
  readonly prefix: string;
}

/** Of `http://host:port/path`, `https://…` or `unix:/socket:/path`. */
export function destinationOf(url: string): Destination {
  if (url.startsWith('unix:')) {
    const [path = '', prefix = ''] = url.slice('unix:'.length).split(/:(?=\/)/);
    const target = { path };
    return { url, target, isSecure: false, hostname: 'localhost', host: 'localhost', prefix: withoutSlash(prefix) };
  }
  const { protocol, hostname, port, host, pathname } = new URL(url);
  const isSecure = protocol === 'https:';
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  const target = { host: bare, port: port === '' ? (isSecure ? 443 : 80) : Number(port) };
  return { url, target, isSecure, hostname: bare, host, prefix: withoutSlash(pathname) };
}

/** Whether it is a name that resolves to addresses. */
export function isNamed({ target }: Destination): boolean {
  return 'host' in target && isIP(target.host) === 0;
}

/** Returns the destination at one of the addresses of its name. */
export function resolvedTo(destination: Destination, ip: string): Destination {
  if ('path' in destination.target) return destination;
  return {
    ...destination,
    url: `${destination.url} (${ip})`,
    target: { host: ip, port: destination.target.port },
  };
}

function withoutSlash(path: string): string {
  return path.replace(/\/$/, '');
}
