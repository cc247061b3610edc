import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { CUSTOMER_ID_LENGTH, CUSTOMER_KEY_ID_LENGTH, KEY_ID_LENGTH } from '../store/records/customer-id.js';
import { encodeBase62, isBase62From, randomBase62 } from '../../shared/base62.js';

/**
 * The form of a key:
 * `ptg_<environment>_<12 base62 id><26 base62 secret><6 base62 CRC-32 of all before>`.
 * The ID of a customer's key has 14 characters; the first eight are the customer's ID.
 * The checksum only detects typing errors without asking the store; the secret is the proof.
 */
const SECRET_LENGTH = 26;
const CHECKSUM_LENGTH = 6;
/** What follows the ID. */
const REST_LENGTH = SECRET_LENGTH + CHECKSUM_LENGTH;
const OWN_PREFIX = 'ptg_';
/** Prefix of admin tokens, which have no environment: `pta_<id><secret><checksum>`. */
const ADMIN_PREFIX = 'pta_';
/** No key is shorter. */
export const IMPORTED_MIN_LENGTH = 16;
const IMPORTED_MAX_LENGTH = 512;

/** What a token contains. Only the store knows whether the key exists. */
interface TokenParts {
  readonly id: string;
  /** SHA-256 of the whole token, base64url. */
  readonly secretHash: string;
}

/** A new token, the only place that ever has it in full. */
interface NewToken extends TokenParts {
  readonly token: string;
}

/** Creates a token for a new key or, with `id`, a new secret for an existing one (rotation). */
export function makeToken(environment: string, id: string = newKeyId(null)): NewToken {
  return issue(`${OWN_PREFIX}${environment}_`, id);
}

export function makeAdminToken(): NewToken {
  return issue(ADMIN_PREFIX, newKeyId(null));
}

/** Returns an ID for a new key, with or without a customer. */
export function newKeyId(customerId: string | null): string {
  if (customerId === null) return randomBase62(KEY_ID_LENGTH);
  return customerId + randomBase62(CUSTOMER_KEY_ID_LENGTH - CUSTOMER_ID_LENGTH);
}

export function newCustomerId(): string {
  return randomBase62(CUSTOMER_ID_LENGTH);
}

/** Parses an admin token without a lookup; null if it cannot be one. */
export function parseAdminToken(token: string): TokenParts | null {
  return token.startsWith(ADMIN_PREFIX) ? parseIssued(token, ADMIN_PREFIX.length, KEY_ID_LENGTH) : null;
}

/**
 * Parses a bearer token without a lookup; null if it cannot be a key of `environment`.
 * With `acceptImported`, tokens without the prefix `ptg_` are keys too: 16 to 512 visible ASCII characters.
 */
export function parseToken(token: string, environment: string, acceptImported: boolean): TokenParts | null {
  if (!token.startsWith(OWN_PREFIX)) return acceptImported ? parseImported(token) : null;
  const idStart = OWN_PREFIX.length + environment.length + 1;
  if (!token.startsWith(environment, OWN_PREFIX.length) || token[idStart - 1] !== '_') return null;
  const isCustomers = token.length === idStart + CUSTOMER_KEY_ID_LENGTH + REST_LENGTH;
  return parseIssued(token, idStart, isCustomers ? CUSTOMER_KEY_ID_LENGTH : KEY_ID_LENGTH);
}

/** Whether `token` has form and checksum of a key, in any environment. */
export function isOwnForm(token: string): boolean {
  const environment = /^ptg_([a-z]+)_/.exec(token)?.[1];
  return environment !== undefined && parseToken(token, environment, false) !== null;
}

function issue(prefix: string, id: string): NewToken {
  const head = `${prefix}${id}${randomBase62(SECRET_LENGTH)}`;
  const token = head + checksumOf(head);
  return { token, id, secretHash: hashOf(token) };
}

function parseIssued(token: string, idStart: number, idLength: number): TokenParts | null {
  if (token.length !== idStart + idLength + REST_LENGTH || !isBase62From(token, idStart)) return null;
  const head = token.slice(0, -CHECKSUM_LENGTH);
  if (checksumOf(head) !== token.slice(-CHECKSUM_LENGTH)) return null;
  return { id: token.slice(idStart, idStart + idLength), secretHash: hashOf(token) };
}

/** Whether `text` has the form of a key ID, with or without a customer. */
export function isKeyId(text: string): boolean {
  return (text.length === KEY_ID_LENGTH || text.length === CUSTOMER_KEY_ID_LENGTH) && isBase62From(text, 0);
}

export function isCustomerId(text: string): boolean {
  return text.length === CUSTOMER_ID_LENGTH && isBase62From(text, 0);
}

/** Whether `text` looks like a whole key or admin token instead of an ID: no response may repeat it. */
export function looksLikeToken(text: string): boolean {
  return text.startsWith(OWN_PREFIX) || text.startsWith(ADMIN_PREFIX);
}

function parseImported(token: string): TokenParts | null {
  if (token.length < IMPORTED_MIN_LENGTH || token.length > IMPORTED_MAX_LENGTH) return null;
  for (let index = 0; index < token.length; index += 1) {
    const code = token.charCodeAt(index);
    if (code < 0x21 || code > 0x7e) return null;
  }
  const secretHash = hashOf(token);
  return { id: importedIdOf(secretHash), secretHash };
}

/** The id of a key of another form, the same on every gateway: `i` and 11 base62 digits of its hash. */
export function importedIdOf(secretHash: string): string {
  const bytes = Buffer.from(secretHash, 'base64url');
  // 48 bits fill 8 digits (62^8 < 2^48), 24 bits the other 3.
  return `i${encodeBase62(bytes.readUIntBE(0, 6), 8)}${encodeBase62(bytes.readUIntBE(6, 3), 3)}`;
}

function checksumOf(head: string): string {
  return encodeBase62(crc32(head), CHECKSUM_LENGTH);
}

function hashOf(token: string): string {
  return hash('sha256', token, 'base64url');
}
