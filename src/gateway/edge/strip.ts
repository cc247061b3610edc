import type { CredentialLocations } from '../refusals/credential-location.js';
import { toStripped, type Exchange, type Stripped } from '../exchange.js';
import { credentialTaker } from './credentials.js';
import { fieldKey, HOP_BY_HOP, lowerName, namedByConnection, ODD_VALUE, remembered } from './fields.js';

/** Fields that only the gateway may send to the upstream, and those that its own framing replaces. */
const OWN: ReadonlySet<string> = new Set([
  'authorization',
  'content-length',
  'expect',
  'forwarded',
  'host',
  'traceparent',
  'x-real-ip',
  'x-request-id',
]);
/** These make many servers perform another operation than the one requested and charged here. */
const OVERRIDES: ReadonlySet<string> = new Set([
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-override-url',
  'x-rewrite-url',
]);
/** Servers and libraries trust these for the client's address or host, which was not checked here. */
const CLAIMS: ReadonlySet<string> = new Set([
  'cf-connecting-ip',
  'cf-connecting-ipv6',
  'client-ip',
  'fastly-client-ip',
  'forwarded-for',
  // CGI programs see it as the variable HTTP_PROXY.
  'proxy',
  'proxy-client-ip',
  'true-client-ip',
  'wl-proxy-client-ip',
  'x-azure-clientip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-envoy-external-address',
  'x-host',
  'x-originating-ip',
  'x-remote-addr',
  'x-remote-ip',
]);
const OWN_PREFIXES = ['x-petgate-', 'x-forwarded', 'x-original-'] as const;

/** Cookies of the gateway's own pages are sessions: never forwarded. */
const OWN_COOKIES = 'petgate-';
const OWN_COOKIE = /^(?:__Secure-)?petgate-/;

const fateOf = remembered((name) => {
  if (lowerName(name) === 'cookie') return 'cookies';
  const key = fieldKey(name);
  const travels =
    !HOP_BY_HOP.has(key) &&
    !OWN.has(key) &&
    !OVERRIDES.has(key) &&
    !CLAIMS.has(key) &&
    !OWN_PREFIXES.some((prefix) => key.startsWith(prefix));
  return travels ? 'travels' : 'stays';
});

/**
 * Second step: keeps only what may be forwarded. Removes credentials, wherever the settings look for them; hop-by-hop
 * fields, including those named by Connection; fields that could be mistaken for the gateway's own or that change the
 * operation, also if spelled with `_`, which many servers read as `-`; and cookies of its own pages.
 */
export function createStrip(locations: CredentialLocations): (exchange: Exchange) => Stripped {
  const take = credentialTaker(locations);
  return take === null ? strip : (exchange) => strip(take(exchange));
}

function strip(exchange: Exchange): Stripped {
  const raw = exchange.headers;
  const named = namedByConnection(raw);
  const kept: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index]!;
    let value = raw[index + 1]!;
    const fate = fateOf(name);
    if (fate === 'stays' || ODD_VALUE.test(value) || named?.includes(lowerName(name)) === true) continue;
    if (fate === 'cookies' && value.includes(OWN_COOKIES)) {
      value = withoutOwnCookies(value);
      if (value === '') continue;
    }
    if (!exchange.traceContinued && lowerName(name) === 'tracestate') continue;
    kept.push(name, value);
  }
  return toStripped(exchange, kept);
}

function withoutOwnCookies(value: string): string {
  const pairs = value.split(';').map((pair) => pair.trim());
  return pairs.filter((pair) => !OWN_COOKIE.test(pair)).join('; ');
}
