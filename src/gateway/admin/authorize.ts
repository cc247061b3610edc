import { createHash, timingSafeEqual } from 'node:crypto';
import { AdminRefusal } from './answer.js';

const BEARER = 'Bearer realm="petgate-admin"';
const BASIC = 'Basic realm="petgate-admin", charset="UTF-8"';
const HELP = 'It is PETGATE_ADMIN_TOKEN, or the file admin-token in the data folder.';

/** The form in which the admin token is kept for comparing. */
export function tokenHashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/**
 * Throws AdminRefusal 401 unless the admin token was sent. With `browser` also as the password of HTTP
 * Basic (RFC 7617, any user name), which a browser can ask for; it then sends it along unasked, so that
 * only what reads may take it.
 */
export function authorize(header: string | undefined, tokenHash: Buffer, browser: boolean): void {
  const token = tokenIn(header, browser);
  // Hashes have one length: the comparison tells nothing of the token, not even how long it is.
  if (token !== undefined && timingSafeEqual(tokenHashOf(token), tokenHash)) return;
  const bearer = `${BEARER}${header === undefined ? '' : ', error="invalid_token"'}`;
  const message = `Send the admin token: "Authorization: Bearer <token>"${browser ? ', or in a browser as the password of any user' : ''}. ${HELP}`;
  throw new AdminRefusal(401, header === undefined ? 'missing_admin_token' : 'invalid_admin_token', message, { 'WWW-Authenticate': browser ? [bearer, BASIC] : bearer });
}

function tokenIn(header: string | undefined, browser: boolean): string | undefined {
  const [, scheme = '', credential = ''] = /^([a-z]+) +(.*)$/i.exec(header ?? '') ?? [];
  if (scheme.toLowerCase() === 'bearer') return credential.trim();
  if (!browser || scheme.toLowerCase() !== 'basic') return undefined;
  const pair = Buffer.from(credential, 'base64').toString();
  return pair.slice(pair.indexOf(':') + 1);
}
