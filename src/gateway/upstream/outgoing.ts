import type { Admitted, Body } from '../exchange.js';
import type { Credentials } from './credentials.js';
import { requestHeaders } from './headers.js';
import { withoutPrefix } from './own-addresses.js';
import type { Upstream } from './pools.js';
import type { OutgoingRequest } from './http1/transport.js';

/** The request for its upstream. What depends on the address is added later. */
export function outgoingRequest(
  exchange: Admitted,
  { settings: { strip_prefix: prefix = '', host, forwarded } }: Upstream,
  credentials: Credentials,
  body: Body | null,
): OutgoingRequest {
  const path = withoutPrefix(exchange.path, prefix);
  const headers = requestHeaders(exchange, credentials, forwarded);
  // For links that the upstream generates.
  if (path.length !== exchange.path.length) headers.push('X-Forwarded-Prefix', prefix);
  return {
    id: exchange.id,
    method: exchange.method,
    target: path + exchange.query,
    headers,
    body,
    host: host === 'client' ? exchange.host : null,
  };
}
