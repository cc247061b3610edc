import { toIdentified, type Credential, type Identified, type Routed } from '../exchange.js';
import { ownText } from '../../shared/text/own-text.js';
import { isOwnForm, parseToken } from './token.js';

/** Scheme and credential of RFC 6750 §2.1; the scheme is case-insensitive, one or more spaces. */
const BEARER = /^bearer +([^ ]+) *$/i;
const OTHER_SCHEME = /^(?!bearer )[A-Za-z][A-Za-z0-9-]* +[^ ]/i;

/**
 * Fourth step: identifies the caller. A well-formed token names its key and proves its secret by hash, without a
 * lookup; otherwise the subject is the caller's address.
 */
export function createIdentify(environment: string, acceptImported: boolean): (exchange: Routed) => Identified {
  return (exchange) => {
    const { authorization, addressBucket } = exchange;
    if (authorization === null) return toIdentified(exchange, { kind: 'address', address: addressBucket }, 'missing');
    const token = bearerOf(authorization);
    const parsed = token === null ? null : parseToken(token, environment, acceptImported);
    if (parsed === null)
      return toIdentified(exchange, { kind: 'address', address: addressBucket }, flawOf(authorization, token));
    return toIdentified(exchange, { kind: 'key', id: parsed.id, secretHash: parsed.secretHash }, 'key');
  };
}

/** What is wrong with a credential, judging by its form. */
function flawOf(authorization: string, token: string | null): Credential {
  if (token !== null) return isOwnForm(token) ? 'other_environment' : 'malformed';
  if (isOwnForm(authorization)) return 'no_scheme';
  return OTHER_SCHEME.test(authorization) ? 'unknown_scheme' : 'malformed';
}

function bearerOf(authorization: string): string | null {
  if (authorization.startsWith('Bearer ') && !authorization.includes(' ', 7)) return authorization.slice(7);
  const token = BEARER.exec(authorization)?.[1];
  // Copied, so that its ID does not keep the whole header field in memory.
  return token === undefined ? null : ownText(token);
}
