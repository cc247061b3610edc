import { isIP } from 'node:net';
import type { Target } from '../http1/dial.js';

/** An address of the settings, parsed. */
export interface Destination {
  /** For messages. */
  readonly url: string;
  readonly target: Target;
  readonly isSecure: boolean;
  /** The host as in the address; `localhost` for a socket. */
  readonly hostname: string;
  /** The value of Host. */
  readonly host: string;
  /** The path prefix of every request, without a trailing slash. */
  readonly prefix: string;
}

/** Parses `http://host:port/path`, `https://…` or `unix:/socket:/path`. */
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

/** Returns whether the host is a name to be resolved. */
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
