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

/** Fields of an upstream's answer that are the gateway's to say, or nobody's. */
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
 * A cookie of the gateway's own pages: no upstream may set one, for cookies know no ports. Browsers also take one
 * without a name for what its value says.
 */
const OWN_COOKIE = /^[\s=]*(?:__(?:secure|host)-)?petgate-/i;

const returns = remembered(
  (name) => !HOP_BY_HOP.has(name) && !OWN.has(name) && !OWN_PREFIXES.some((prefix) => name.startsWith(prefix)),
);

/** The fields sent to the upstream: the client's, then who asks, which only the gateway may say. */
export function requestHeaders(exchange: Admitted, credentials: Credentials, withForwarded: boolean): string[] {
  const { verdict, clientAuthorization, address, scheme, publicHost } = exchange;
  const headers =
    credentials.replaces === null ? exchange.headers.slice() : without(exchange.headers, credentials.replaces);
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

/** RFC 7239. What has a colon or a bracket in it is quoted. */
function forwardedOf({ address, scheme, publicHost }: Admitted): string {
  const host = publicHost === null ? '' : `;host="${publicHost}"`;
  return `for=${address.includes(':') ? `"[${address}]"` : address}${host};proto=${scheme}`;
}

function without(headers: readonly string[], name: string): string[] {
  return headers.filter((_text, index) => fieldKey(headers[index - (index % 2)]!) !== name);
}

/** Of most requests. */
const VIA = '1.1 petgate';

/** What decides which of an upstream's fields pass, and how. */
export interface FieldRules {
  /** `replace`: a 503 says in seconds how long to wait, whatever the upstream said. */
  readonly errors: 'replace' | 'pass';
  readonly own: OwnAddresses;
}

/**
 * Appends to `target` the upstream's fields that the client gets, flat. Where the gateway itself answers CORS, the
 * upstream's fields about it are dropped.
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
  for (let index = 0; index < received.length; index += 2) {
    const name = received[index]!;
    // A 204 has no length (RFC 9110 §8.6).
    if (status === 204 && name === 'content-length') continue;
    // Where an upstream's 401 passes, it says how to do better.
    const isReturned = returns(name) || (status === 401 && name === 'www-authenticate');
    if (!isReturned || named?.includes(name) === true || (ownCors && name.startsWith('access-control-'))) continue;
    if (ownWait && name === 'retry-after') continue;
    appendField(target, name, valueOf(name, received[index + 1]!, exchange, own));
  }
  if (ownWait) target.push('Retry-After', String(retryAfterS(onlyValueOf(received, 'retry-after'))));
}

/** The value as the client gets it: where it names the upstream itself, that is not what the client can reach. */
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

/** Whole seconds a 503 of the upstream asks to wait, as it said them (RFC 9110 §10.2.3), at least 1. */
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
