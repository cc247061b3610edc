import type { IncomingMessage } from 'node:http';
import type { Client, Exchange, ExchangeLog } from '../exchange.js';
import { nextTraceparent, requestIdOf } from './trace.js';
import { REFUSALS, withMessage, type Refusal } from '../refusal.js';
import type { EdgeLimits } from '../config/schema/limits.js';
import { bucketOf, type AddressReader } from './client-address.js';
import { lowerName, remembered } from './fields.js';
import { AUTHORITY, parseTarget, refusedCharacter } from './target.js';

export interface Head {
  readonly method: string;
  readonly target: string;
  /** `1.0`, `1.1` or `2`; anything else is refused. Null if it could not be parsed. */
  readonly version: string | null;
  /** As received, flat: `[name, value, …]`; HTTP/2 in the form of HTTP/1.1. */
  readonly fields: readonly string[];
  /** The socket's peer; undefined after a reset. */
  readonly remote: string | undefined;
  /** Whether a body follows the head; null for HTTP/1, where the fields decide. */
  readonly endsLater: boolean | null;
}

export function headOf({ method = '', url = '', httpVersion, rawHeaders, socket }: IncomingMessage): Head {
  return {
    method,
    target: url,
    version: httpVersion,
    fields: rawHeaders,
    remote: socket.remoteAddress,
    endsLater: null,
  };
}

/** The fields for framing, identity and tracing. */
const WATCHED = [
  'host',
  'authorization',
  'transfer-encoding',
  'content-length',
  'expect',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-request-id',
  'traceparent',
] as const;
type Watched = (typeof WATCHED)[number];

/** Watched fields, by name as spelled. */
const watchedAs = remembered((name) => WATCHED.find((watched) => watched === lowerName(name)) ?? null);

/** Their values (the last one of a repeated field, all of X-Forwarded-For), and which were repeated. */
type WatchedFields = Record<Watched, string | null> & { doubled: Watched[] | null };

const DIGITS = /^\d{1,15}$/;

/**
 * First step: turns what was received into plain data. Node's parsers accept much that an upstream may read differently
 * (bodies on GET, two Hosts, odd versions), so framing, Host, version and target are checked again here. Any error,
 * including `fault`, becomes the exchange's `fault`.
 */
export function open(
  head: Head,
  client: Client,
  addresses: AddressReader,
  limits: EdgeLimits,
  fault: Refusal | null = null,
): Exchange {
  const { method, version, fields } = head;
  const seen = readFields(fields);
  const length = seen['content-length'];
  const target = parseTarget(head.target, method);
  const address = addresses.read(head.remote, seen['x-forwarded-for']);
  const isForwarded =
    (seen['x-forwarded-proto'] !== null || seen['x-forwarded-host'] !== null) && addresses.trusts(head.remote);
  const { traceparent, continued } = nextTraceparent(isDoubled(seen, 'traceparent') ? null : seen.traceparent);
  return {
    id: requestIdOf(seen['x-request-id'], seen.authorization),
    traceparent,
    traceContinued: continued,
    version,
    method,
    path: target?.path ?? '',
    query: target?.query ?? '',
    headers: fields,
    received: fields,
    host: seen.host,
    scheme: (isForwarded ? schemeIn(seen['x-forwarded-proto']) : null) ?? (client.isEncrypted ? 'https' : 'http'),
    publicHost: (isForwarded ? hostIn(seen['x-forwarded-host']) : null) ?? seen.host,
    // Two credentials count as none: servers differ in which one they use.
    authorization: isDoubled(seen, 'authorization') ? '' : seen.authorization,
    clientAuthorization: null,
    hasBody: (head.endsLater ?? (seen['transfer-encoding'] !== null || length !== null)) && !isZero(length),
    contentLength: length === null ? null : Number(length),
    address,
    addressBucket: bucketOf(address),
    startedMs: performance.now(),
    fault: faultOf(head, seen, target !== null, limits) ?? fault,
    client,
    logEntry: newLogEntry(),
  };
}

export function newLogEntry(): ExchangeLog {
  return {
    operation: 'malformed',
    verdict: null,
    decidedMs: 0,
    admissionMs: 0,
    upstreamMs: 0,
    upstream: null,
    contractCost: 0,
    refusal: null,
    setting: null,
    counted: false,
    late: null,
    keyId: null,
    credential: null,
    headers: [],
    cors: null,
    tunnel: null,
    rest: null,
    metered: null,
    meter: null,
    settled: null,
  };
}

function readFields(raw: readonly string[]): WatchedFields {
  const seen: WatchedFields = {
    host: null,
    authorization: null,
    'transfer-encoding': null,
    'content-length': null,
    expect: null,
    'x-forwarded-for': null,
    'x-forwarded-proto': null,
    'x-forwarded-host': null,
    'x-request-id': null,
    traceparent: null,
    doubled: null,
  };
  for (let index = 0; index < raw.length; index += 2) {
    const name = watchedAs(raw[index]!);
    if (name === null) continue;
    const [value, before] = [raw[index + 1]!, seen[name]];
    if (before !== null) (seen.doubled ??= []).push(name);
    seen[name] = before !== null && name === 'x-forwarded-for' ? `${before},${value}` : value;
  }
  return seen;
}

/** The scheme at the first proxy in X-Forwarded-Proto; null for anything else. */
function schemeIn(list: string | null): Exchange['scheme'] | null {
  const scheme = list?.split(',', 1)[0]!.trim().toLowerCase();
  return scheme === 'http' || scheme === 'https' ? scheme : null;
}

function hostIn(list: string | null): string | null {
  const host = list?.split(',', 1)[0]!.trim() ?? '';
  return AUTHORITY.test(host) ? host : null;
}

function isZero(length: string | null): boolean {
  return length !== null && DIGITS.test(length) && Number(length) === 0;
}

function isDoubled({ doubled }: WatchedFields, name: Watched): boolean {
  return doubled !== null && doubled.includes(name);
}

function faultOf(
  { version, target, fields }: Head,
  seen: WatchedFields,
  targetValid: boolean,
  limits: EdgeLimits,
): Refusal | null {
  if (version !== '1.1' && version !== '1.0' && version !== '2') return REFUSALS.http_version_not_supported;
  if (fields.length / 2 > limits.header_fields) return REFUSALS.headers_too_large;
  if (target.length > limits.url_size) return REFUSALS.uri_too_long;
  const refused = targetValid ? null : refusedCharacter(target);
  if (refused !== null) return withMessage(REFUSALS.malformed_request, refused);
  if (!targetValid || !hostValid(seen, version) || !framingValid(seen, version)) return REFUSALS.malformed_request;
  if (seen.expect !== null && seen.expect.toLowerCase() !== '100-continue') return REFUSALS.expectation_failed;
  return null;
}

/** Exactly one Host, at most one on HTTP/1.0 (RFC 9112 §3.2). */
function hostValid(seen: WatchedFields, version: string): boolean {
  return seen.host === null ? version === '1.0' : !isDoubled(seen, 'host') && AUTHORITY.test(seen.host);
}

/** At most one framing: exactly `chunked`, never with HTTP/1.0 or Content-Length (RFC 9112 §6). */
function framingValid(seen: WatchedFields, version: string): boolean {
  const { 'transfer-encoding': coding, 'content-length': length } = seen;
  if (isDoubled(seen, 'transfer-encoding') || isDoubled(seen, 'content-length')) return false;
  if (coding !== null) return length === null && version === '1.1' && coding.toLowerCase() === 'chunked';
  return length === null || DIGITS.test(length);
}
