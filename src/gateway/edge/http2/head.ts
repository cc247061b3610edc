import type { EdgeLimits } from '../../config/schema/limits.js';
import { REFUSALS, type Refusal } from '../../refusal.js';
import { isMethod } from '../method.js';
import type { Head } from '../open.js';

/** Bytes of a field in HTTP/1.1 in addition to name and value: colon, space, end of line. */
const FIELD_OVERHEAD_BYTES = 4;

/**
 * Converts an HTTP/2 head to HTTP/1.1 (RFC 9113 §8.3.1): the pseudo-fields to method, target and Host, several cookie
 * fields to one (§8.2.3). nghttp2 resets streams with missing, repeated or misplaced pseudo-fields, two hosts,
 * capitals, connection fields, or a wrong Content-Length. A head that is too large is dropped without joining its
 * cookies: compressed, a few bytes repeat the same 4,000 bytes, which Node stores once and a joined text each time.
 * @param raw flat, from node:http2
 * @param endsLater the head did not end the stream
 * @returns also the fault, if HTTP/1.1 cannot express it
 */
export function readStreamHead(
  raw: readonly string[],
  endsLater: boolean,
  remote: string | undefined,
  limits: EdgeLimits,
): { readonly head: Head; readonly fault: Refusal | null } {
  const pseudo = new Map<string, string>();
  const fields: string[] = [];
  const cookies: string[] = [];
  let host: string | null = null;
  let bytes = 0;
  const headOf = (target: string, headFields: readonly string[]): Head => {
    const method = pseudo.get(':method') ?? '';
    return {
      method: isMethod(method) || method === 'TRACE' ? method : '',
      target,
      version: '2',
      fields: headFields,
      remote,
      endsLater,
    };
  };
  for (let index = 0; index < raw.length; index += 2) {
    const [name, value] = [raw[index]!, raw[index + 1]!];
    bytes += name.length + value.length + FIELD_OVERHEAD_BYTES;
    if (bytes > limits.header_size || fields.length / 2 > limits.header_fields)
      return { head: headOf('/', ['host', 'unread']), fault: REFUSALS.headers_too_large };
    if (name.startsWith(':')) pseudo.set(name, value);
    else if (name === 'host') host = value;
    else if (name === 'cookie') cookies.push(value);
    else fields.push(name, value);
  }
  if (cookies.length > 0) fields.push('cookie', cookies.join('; '));
  const authority = pseudo.get(':authority') ?? null;
  const agree = host === null || authority === null || normalAuthority(host) === normalAuthority(authority);
  fields.push('host', authority ?? host ?? '');
  const head = headOf(pseudo.get(':path') ?? '', fields);
  const isValid = agree && pseudo.get(':scheme') === 'https' && head.method !== '';
  return { head, fault: isValid ? null : REFUSALS.malformed_request };
}

/** Returns an authority of https in lower case, without the default port (RFC 3986 §6.2.3). */
function normalAuthority(authority: string): string {
  return authority.toLowerCase().replace(/:(?:443)?$/, '');
}
