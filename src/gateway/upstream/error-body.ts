import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { onlyValueOf } from '../edge/fields.js';

/** Fields of an answer: flat, names in lower case. */
type Received = readonly string[];

/** No Error is longer. */
export const LONGEST_ERROR = 64 * 1024;

const JSON_TYPE = /^application\/json[ \t]*(?:;|$)/i;
/** Fields that describe a body (RFC 9110 §8), and are dropped with it. */
const OF_BODY = /^(?:content-.*|etag|last-modified|accept-ranges|digest|repr-digest)$/;

const DECODERS = new Map<string, (body: Buffer) => Buffer>([
  ['identity', (body) => body],
  ['gzip', (body) => gunzipSync(body, { maxOutputLength: LONGEST_ERROR })],
  ['x-gzip', (body) => gunzipSync(body, { maxOutputLength: LONGEST_ERROR })],
  ['deflate', (body) => inflateSync(body, { maxOutputLength: LONGEST_ERROR })],
  ['br', (body) => brotliDecompressSync(body, { maxOutputLength: LONGEST_ERROR })],
]);

/** The body without its content coding; null when that is unknown or broken, or the body too long for an Error. */
export function decodedBody(received: Received, body: Buffer): Buffer | null {
  const coding = onlyValueOf(received, 'content-encoding') ?? 'identity';
  try {
    return DECODERS.get(coding.toLowerCase())?.(body) ?? null;
  } catch {
    return null;
  }
}

/**
 * Whether an answer of 400 and above is an Error of the contract: JSON with a code, a message and its own status.
 * @param body decoded; null for an answer to HEAD, of which only the fields can be checked
 */
export function isError(status: number, received: Received, body: Buffer | null): boolean {
  const type = onlyValueOf(received, 'content-type');
  if (type === null || !JSON_TYPE.test(type)) return false;
  return body === null || hasErrorForm(status, body);
}

function hasErrorForm(expected: number, body: Buffer): boolean {
  let value: unknown;
  try {
    value = JSON.parse(body.toString());
  } catch {
    return false;
  }
  if (typeof value !== 'object' || value === null) return false;
  const { code, message, status } = value as Readonly<Record<string, unknown>>;
  return isText(code) && isText(message) && status === expected;
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

/** Fields that belong to a status: how long the representation is, and which one it is (RFC 9110 §14.4, §13.1.1). */
const OF_STATUS: Readonly<Record<number, string>> = { 412: 'etag', 416: 'content-range' };

export function withoutBodyFields(status: number, received: Received): Received {
  return received.filter((_text, index) => {
    const name = received[index - (index % 2)]!;
    return !OF_BODY.test(name) || name === OF_STATUS[status];
  });
}
