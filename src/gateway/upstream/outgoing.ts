import type { Admitted, Body } from '../exchange.js';
import type { Credentials } from './credentials.js';
import { requestHeaders } from './headers.js';
import type { Upstream } from './pools.js';
import type { OutgoingRequest } from './transport.js';

const SLASH = 47;

/** The request as its upstream gets it. What differs from address to address is put in front of it there. */
export function outgoingRequest(
  exchange: Admitted,
  { settings: { stripPrefix, host } }: Upstream,
  credentials: Credentials,
  body: Body | null,
): OutgoingRequest {
  const path = withoutPrefix(exchange.path, stripPrefix);
  const headers = requestHeaders(exchange, credentials);
  // For links that the upstream makes.
  if (path.length !== exchange.path.length) headers.push('X-Forwarded-Prefix', stripPrefix);
  return {
    method: exchange.method,
    target: path + exchange.query,
    headers,
    body,
    host: host === 'client' ? exchange.host : null,
  };
}

/** Whole segments only: `/v1` is no part of `/v10/pets`. */
export function withoutPrefix(path: string, prefix: string): string {
  if (prefix === '' || !path.startsWith(prefix)) return path;
  if (path.length === prefix.length) return '/';
  return path.charCodeAt(prefix.length) === SLASH ? path.slice(prefix.length) : path;
}
