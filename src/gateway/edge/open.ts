import type { IncomingMessage } from 'node:http';
import type { Client, Exchange, ExchangeLog } from '../exchange.js';
import { nextTraceparent, requestIdOf } from './trace.js';
import { REFUSALS } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import type { EdgeLimits } from '../config/settings.js';
import { bucketOf } from './client-address.js';
import type { AddressReader } from './client-address.js';
import { lowerName } from './fields.js';
import { AUTHORITY, parseTarget } from './target.js';

/** The head of a request, whichever HTTP it came by. */
export interface Head {
  readonly method: string;
  readonly target: string;
  /** `1.0`, `1.1` or `2`; what else a client may say is refused. Null of one that could not be read. */
  readonly version: string | null;
  /** As they came, flat `[name, value, …]`; of HTTP/2 as HTTP/1.1 would say them. */
  readonly fields: readonly string[];
  /** The socket's peer; undefined once it was reset. */
  readonly remote: string | undefined;
  /** Whether the request goes on behind its head; null where its fields alone say so, which is HTTP/1. */
  readonly goesOn: boolean | null;
}

export function headOf({ method = '', url = '', httpVersion, rawHeaders, socket }: IncomingMessage): Head {
  return { method, target: url, version: httpVersion, fields: rawHeaders, remote: socket.remoteAddress, goesOn: null };
}

/** The fields that framing, identity and tracing hang on, with how often each came. */
interface Seen {
  host: string | null;
  hosts: number;
  authorization: string | null;
  authorizations: number;
  transferEncoding: string | null;
  transferEncodings: number;
  contentLength: string | null;
  contentLengths: number;
  expect: string | null;
  forwardedFor: string | null;
  requestId: string | null;
  traceparent: string | null;
  traceparents: number;
}

const DIGITS = /^\d{1,15}$/;

/**
 * First step: what came over the wire becomes plain data. Node's parsers let much through that a
 * server behind may read otherwise (bodies on GET, two Hosts, odd versions), so framing, Host, version and target are
 * checked here again; what is wrong stands as the exchange's `fault`.
 * @param fault what is wrong besides
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
  const target = parseTarget(head.target, method);
  const address = addresses.read(head.remote, seen.forwardedFor);
  const { traceparent, continued } = nextTraceparent(seen.traceparents === 1 ? seen.traceparent : null);
  return {
    id: requestIdOf(seen.requestId),
    traceparent,
    traceContinued: continued,
    version,
    method,
    path: target?.path ?? '',
    query: target?.query ?? '',
    headers: fields,
    // Two credentials count as none: readers differ in which one they pick.
    authorization: seen.authorizations > 1 ? '' : seen.authorization,
    hasBody:
      head.goesOn === null
        ? seen.transferEncoding !== null || declaresBody(seen)
        : head.goesOn && seen.contentLength !== '0',
    contentLength: seen.contentLength === null ? null : Number(seen.contentLength),
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
    refusal: null,
    counted: false,
    late: null,
    keyId: null,
    credential: null,
    headers: [],
    cors: null,
    tunnel: null,
  };
}

function readFields(raw: readonly string[]): Seen {
  const seen: Seen = {
    host: null,
    hosts: 0,
    authorization: null,
    authorizations: 0,
    transferEncoding: null,
    transferEncodings: 0,
    contentLength: null,
    contentLengths: 0,
    expect: null,
    forwardedFor: null,
    requestId: null,
    traceparent: null,
    traceparents: 0,
  };
  for (let index = 0; index < raw.length; index += 2) {
    const value = raw[index + 1]!;
    switch (lowerName(raw[index]!)) {
      case 'host':
        seen.host = value;
        seen.hosts += 1;
        break;
      case 'authorization':
        seen.authorization = value;
        seen.authorizations += 1;
        break;
      case 'transfer-encoding':
        seen.transferEncoding = value;
        seen.transferEncodings += 1;
        break;
      case 'content-length':
        seen.contentLength = value;
        seen.contentLengths += 1;
        break;
      case 'expect':
        seen.expect = value;
        break;
      case 'x-forwarded-for':
        seen.forwardedFor = seen.forwardedFor === null ? value : `${seen.forwardedFor},${value}`;
        break;
      case 'x-request-id':
        seen.requestId = value;
        break;
      case 'traceparent':
        seen.traceparent = value;
        seen.traceparents += 1;
        break;
      default:
    }
  }
  return seen;
}

function declaresBody({ contentLength }: Seen): boolean {
  return contentLength !== null && contentLength !== '0';
}

function faultOf(
  { version, target, fields }: Head,
  seen: Seen,
  targetValid: boolean,
  limits: EdgeLimits,
): Refusal | null {
  if (version !== '1.1' && version !== '1.0' && version !== '2') return REFUSALS.http_version_not_supported;
  if (fields.length / 2 > limits.headerFields) return REFUSALS.headers_too_large;
  if (target.length > limits.urlBytes) return REFUSALS.uri_too_long;
  if (!targetValid || !hostValid(seen, version) || !framingValid(seen, version)) return REFUSALS.malformed_request;
  if (seen.expect !== null && seen.expect.toLowerCase() !== '100-continue') return REFUSALS.expectation_failed;
  return null;
}

/** Exactly one Host, at most one on HTTP/1.0 (RFC 9112 §3.2). */
function hostValid(seen: Seen, version: string): boolean {
  if (seen.hosts === 0) return version === '1.0';
  return seen.hosts === 1 && AUTHORITY.test(seen.host!);
}

/** One framing or none: exactly `chunked`, never on 1.0, never beside Content-Length (RFC 9112 §6). */
function framingValid(seen: Seen, version: string): boolean {
  if (seen.transferEncodings > 0) {
    return (
      seen.transferEncodings === 1 &&
      seen.contentLengths === 0 &&
      version === '1.1' &&
      seen.transferEncoding!.toLowerCase() === 'chunked'
    );
  }
  return seen.contentLengths === 0 || (seen.contentLengths === 1 && DIGITS.test(seen.contentLength!));
}
