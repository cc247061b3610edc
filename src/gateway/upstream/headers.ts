import {
  addVary,
  fieldKey,
  HOP_BY_HOP,
  namedByConnection,
  ODD_VALUE,
  onlyValueOf,
  remembered,
} from '../edge/fields.js';
import type { Admitted } from '../exchange.js';
import type { Credentials } from './credentials.js';
import { rewrittenCookie, rewrittenLocation, type OwnAddresses } from './own-addresses.js';

/** Fields of an upstream's response that only the gateway may send, or nobody. */
const OWN: ReadonlySet<string> = new Set([
  'alt-svc',
  'ratelimit',
  'ratelimit-policy',
  'server',
  'traceparent',
  'tracestate',
  'www-authenticate',
  'x-powered-by',
  'x-request-id',
]);
const OWN_PREFIXES = ['x-ratelimit-', 'x-petgate-'] as const;

/**
 * A cookie of the gateway's own pages: no upstream may set one, because cookies ignore ports. Browsers also read a
 * redacted cookie by its value.
 */
const OWN_COOKIE = /^[\s=]*(?:__(?:secure|host)-)?petgate-/i;

const returns = remembered(
  (name) => !HOP_BY_HOP.has(name) && !OWN.has(name) && !OWN_PREFIXES.some((prefix) => name.startsWith(prefix)),
);

/** The fields for the upstream: the client's, then the caller's identity, which only the gateway may send. */
export function requestHeaders(exchange: Admitted, credentials: Credentials, withForwarded: boolean): string[] {
  const { verdict, clientAuthorization, address, scheme, publicHost } = exchange;
  let headers =
    credentials.replaces === null ? exchange.headers.slice() : without(exchange.headers, credentials.replaces);
  const { metered } = exchange.operation;
  // Only JSON that is not compressed can be read as it passes.
  if (metered !== null && 'json' in metered.from)
    headers = [...without(headers, 'accept-encoding'), 'Accept-Encoding', 'identity'];
  if (credentials.field !== null) headers.push(credentials.field[0], credentials.field[1]);
  headers.push('X-Request-Id', exchange.id, 'traceparent', exchange.traceparent);
  headers.push('Via', exchange.version === '1.1' ? VIA : `${exchange.version} petgate`);
  headers.push('X-Forwarded-For', address, 'X-Forwarded-Proto', scheme, 'X-Petgate-Plan', verdict.plan);
  if (publicHost !== null) headers.push('X-Forwarded-Host', publicHost);
  if (withForwarded) headers.push('Forwarded', forwardedOf(exchange));
  if (verdict.keyId !== null) headers.push('X-Petgate-Key-Id', verdict.keyId);
  if (credentials.passesClients && clientAuthorization !== null && clientAuthorization !== '')
    headers.push('Authorization', clientAuthorization);
  return headers;
}

/** RFC 7239. Values with a colon or bracket are quoted. */
function forwardedOf({ address, scheme, publicHost }: Admitted): string {
  const host = publicHost === null ? '' : `;host="${publicHost}"`;
  return `for=${address.includes(':') ? `"[${address}]"` : address}${host};proto=${scheme}`;
}

function without(headers: readonly string[], name: string): string[] {
  return headers.filter((_text, index) => fieldKey(headers[index - (index % 2)]!) !== name);
}

/** Via of HTTP/1.1 requests, which are most. */
const VIA = '1.1 petgate';

/** Rules for the fields of an upstream's response. */
export interface FieldRules {
  /** `replace`: Retry-After of a 503 is in seconds, whatever the upstream sent. */
  readonly errors: 'replace' | 'pass';
  readonly own: OwnAddresses;
}

/**
 * Appends the upstream's fields for the client to `target`, flat. Drops the upstream's CORS fields if the gateway
 * handles CORS.
 * @param received flat, names in lower case
 */
export function appendResponseHeaders(
  target: string[],
  status: number,
  received: readonly string[],
  exchange: Admitted,
  { errors, own }: FieldRules,
): void {
  const named = namedByConnection(received);
  const ownCors = exchange.logEntry.cors !== null;
  const ownWait = status === 503 && errors === 'replace';
  const { metered } = exchange.operation;
  // What a response cost is between the upstream and the gateway.
  const costField = metered !== null && 'header' in metered.from ? metered.from.header : null;
  for (let index = 0; index < received.length; index += 2) {
    const name = received[index]!;
    // A 204 has no length (RFC 9110 §8.6).
    if (status === 204 && name === 'content-length') continue;
    // A forwarded 401 keeps its challenge.
    const isReturned = returns(name) || (status === 401 && name === 'www-authenticate');
    if (!isReturned || named?.includes(name) === true || (ownCors && name.startsWith('access-control-'))) continue;
    if ((ownWait && name === 'retry-after') || name === costField) continue;
    appendField(target, name, valueOf(name, received[index + 1]!, exchange, own));
  }
  if (ownWait) target.push('Retry-After', String(retryAfterS(onlyValueOf(received, 'retry-after'))));
}

/** The value for the client, which cannot reach the upstream's own address. */
function valueOf(name: string, value: string, exchange: Admitted, own: OwnAddresses): string {
  switch (name) {
    case 'location':
    case 'content-location':
      return rewrittenLocation(value, own, exchange);
    case 'set-cookie':
      return rewrittenCookie(value, own);
    default:
      return value;
  }
}

/** Retry-After of the upstream's 503 in whole seconds (RFC 9110 §10.2.3), at least 1. */
function retryAfterS(said: string | null): number {
  if (said === null) return 1;
  const seconds = /^\d{1,9}$/.test(said) ? Number(said) : Math.ceil((Date.parse(said) - Date.now()) / 1000);
  return seconds > 1 ? seconds : 1;
}

function appendField(target: string[], name: string, value: string): void {
  if (ODD_VALUE.test(value) || (name === 'set-cookie' && OWN_COOKIE.test(value))) return;
  if (name === 'vary') addVary(target, value);
  else target.push(name, value);
}
