import type { EdgeLimits } from '../../config/settings.js';
import { REFUSALS, type Refusal } from '../../refusal.js';
import { isMethod } from '../method.js';
import type { Head } from '../open.js';

/** Bytes of a field in HTTP/1.1 in addition to name and value: colon, space, end of line. */
const FIELD_OVERHEAD_BYTES = 4;

/** The head of a request over HTTP/2, and what is wrong with it that HTTP/1.1 has no word for. */
interface StreamHead {
  readonly head: Head;
  readonly fault: Refusal | null;
}

/**
 * Says in the words of HTTP/1.1 what came over HTTP/2 (RFC 9113 §8.3.1): the pseudo-fields as method, target and Host,
 * several cookie fields as one (§8.2.3). nghttp2 has reset the stream already over pseudo-fields that are missing,
 * doubled or misplaced, two hosts, capitals, fields of a connection, and a Content-Length that fits no body. Of a head
 * that is too large nothing is kept, and its cookies are not joined: compressed, a few bytes name the same 4,000 bytes
 * again and again, which Node keeps once and a joined text as often as they were named.
 * @param raw flat, as node:http2 gives them
 * @param endsLater the head did not end the stream
 */
export function readStreamHead(
  raw: readonly string[],
  endsLater: boolean,
  remote: string | undefined,
  limits: EdgeLimits,
): StreamHead {
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
    if (bytes > limits.headerBytes || fields.length / 2 > limits.headerFields)
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

/** Of https: letters in lower case, and without the port that it has anyway (RFC 3986 §6.2.3). */
function normalAuthority(authority: string): string {
  return authority.toLowerCase().replace(/:(?:443)?$/, '');
}
