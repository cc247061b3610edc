import { createHash, timingSafeEqual } from 'node:crypto';
import { bucketOf, createAddressReader } from '../edge/client-address.js';
import { createAllowance } from '../usage/allowance.js';
import { AdminRefusal } from './answer.js';

const BEARER = 'Bearer realm="petgate-admin"';
const BASIC = 'Basic realm="petgate-admin", charset="UTF-8"';
const HELP = 'It is PETGATE_ADMIN_TOKEN, or the file admin-token in the data folder.';

/** Wrong tokens taken from one address: so many at once, then one in so many seconds. */
const BURST = 10;
const PER_SECOND = 0.5;
/** Beyond it the address that began longest ago is forgotten. */
const MOST_ADDRESSES = 10_000;

/** What one request shows. */
export interface Credentials {
  /** The field `Authorization`. */
  readonly header: string | undefined;
  /** The peer's address, as its socket has it; IPv6 counts by its /64. */
  readonly address: string | undefined;
  /**
   * The token is taken also as the password of HTTP Basic (RFC 7617, any user name), which a browser can ask
   * for; it then sends it along unasked, so that only what reads may take it.
   */
  readonly browser: boolean;
}

/** Throws AdminRefusal unless the admin token was sent. */
export type Authorize = (credentials: Credentials) => void;

/**
 * 401 for a wrong token or none. 429 for an address that goes on sending wrong ones: it is not compared any more
 * until the next attempt is due, and nobody else waits for that.
 * @param now ms of a clock that never steps back
 */
export function createAuthorize(token: string, now: () => number): Authorize {
  const tokenHash = hashOf(token);
  const peers = createAddressReader([]);
  const attempts = createAllowance(PER_SECOND, BURST, MOST_ADDRESSES);
  return ({ header, address, browser }) => {
    if (header === undefined) throw refusal(header, browser);
    const peer = bucketOf(peers.read(address, null));
    const waitMs = attempts.waitMs(peer, now());
    if (waitMs > 0) throw tooMany(waitMs);
    const sent = tokenIn(header, browser);
    // Hashes have one length: the comparison tells nothing of the token, not even how long it is.
    if (sent !== '' && timingSafeEqual(hashOf(sent), tokenHash)) return;
    attempts.take(peer, now());
    throw refusal(header, browser);
  };
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function refusal(header: string | undefined, browser: boolean): AdminRefusal {
  const bearer = `${BEARER}${header === undefined ? '' : ', error="invalid_token"'}`;
  const message = `Send the admin token: "Authorization: Bearer <token>"${browser ? ', or in a browser as the password of any user' : ''}. ${HELP}`;
  return new AdminRefusal(401, header === undefined ? 'missing_admin_token' : 'invalid_admin_token', message, {
    'WWW-Authenticate': browser ? [bearer, BASIC] : bearer,
  });
}

function tooMany(waitMs: number): AdminRefusal {
  return new AdminRefusal(
    429,
    'too_many_attempts',
    `Too many wrong tokens came from this address. Wait as long as Retry-After says, then send the admin token. ${HELP}`,
    { 'Retry-After': String(Math.ceil(waitMs / 1000)) },
  );
}

/** Empty when there is none. Only visible ASCII can be a token: nothing else is taken for a blank, or cut off. */
function tokenIn(header: string, browser: boolean): string {
  const [, scheme = '', credential = ''] = /^([a-z]+) +([\x21-\x7e]+) *$/i.exec(header) ?? [];
  if (scheme.toLowerCase() === 'bearer') return credential;
  if (!browser || scheme.toLowerCase() !== 'basic') return '';
  const pair = Buffer.from(credential, 'base64').toString();
  const colon = pair.indexOf(':');
  return colon === -1 ? '' : pair.slice(colon + 1);
}
