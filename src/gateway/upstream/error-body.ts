import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { onlyValueOf } from '../edge/fields.js';

/** Fields of a response: flat, names in lower case. */
type Received = readonly string[];

/** Maximum length of an Error. */
export const LONGEST_ERROR = 64 * 1024;

const JSON_TYPE = /^application\/json[ \t]*(?:;|$)/i;
/** Fields that describe a body (RFC 9110 §8) and are dropped together with it. */
const OF_BODY = /^(?:content-.*|etag|last-modified|accept-ranges|digest|repr-digest)$/;

const DECODERS = new Map<string, (body: Buffer) => Buffer>([
  ['identity', (body) => body],
  ['gzip', (body) => gunzipSync(body, { maxOutputLength: LONGEST_ERROR })],
  ['x-gzip', (body) => gunzipSync(body, { maxOutputLength: LONGEST_ERROR })],
  ['deflate', (body) => inflateSync(body, { maxOutputLength: LONGEST_ERROR })],
  ['br', (body) => brotliDecompressSync(body, { maxOutputLength: LONGEST_ERROR })],
]);

/** Decodes the body; null if the coding is unknown or broken, or the body too long for an Error. */
export function decodedBody(received: Received, body: Buffer): Buffer | null {
  const coding = onlyValueOf(received, 'content-encoding') ?? 'identity';
  try {
    return DECODERS.get(coding.toLowerCase())?.(body) ?? null;
  } catch {
    return null;
  }
}

/**
 * Whether a response of 400 or above is an Error of the contract: JSON with a code, a message and its status.
 * @param body decoded; null for a response to HEAD, where only the fields can be checked
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

/** Fields that describe the representation of a certain status (RFC 9110 §14.4, §13.1.1). */
const OF_STATUS: Readonly<Record<number, string>> = { 412: 'etag', 416: 'content-range' };

export function withoutBodyFields(status: number, received: Received): Received {
  return received.filter((_text, index) => {
    const name = received[index - (index % 2)]!;
    return !OF_BODY.test(name) || name === OF_STATUS[status];
  });
}
