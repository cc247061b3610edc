import { randomFillSync } from 'node:crypto';

/** `<version>-<trace id>-<parent id>-<flags>` in hex (W3C Trace Context); later versions may go on after a dash. */
const TRACEPARENT =
  /^(?:00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})|(?!00|ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?)$/;
const REQUEST_ID = /^[A-Za-z0-9._~+/=-]{1,128}$/;
/** Keys and admin tokens of ours, tokens with the prefixes that well-known services give theirs, and JWTs. */
const TOKEN =
  /(?:^|[^A-Za-z0-9])(?:pt[ga]|[sprw]k|gh[oprsu]|github_pat|glpat|gldt|npm|xox[a-z]|xapp|whsec|hf|shp[a-z]{2})[_-]|^eyJ[\w-]+\.|^(?:AKIA|ASIA)[A-Z0-9]{16}$|^AIza[\w-]{35}$/;
/** No credential has fewer characters. */
const SHORTEST = 8;
const ZERO_TRACE = '0'.repeat(32);
const ZERO_SPAN = '0'.repeat(16);
/** Sampled, and random trace id. */
const FLAGS = 3;

const pool = Buffer.alloc(8192);
let used = pool.length;

/** `bytes` random bytes as hex, from a pool: asking the system for each id costs more than the id. */
function randomHex(bytes: number): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.toString('hex', used - bytes, used);
}

/**
 * The caller's trace with a span of ours, or a new trace (not sampled) when theirs is not valid. A later version is
 * read as far as version 00 goes, and of its flags only `sampled` and, as level 2 asks, `random`.
 */
export function nextTraceparent(received: string | null): { traceparent: string; continued: boolean } {
  const match = received === null ? null : TRACEPARENT.exec(received);
  const trace = match?.[1] ?? match?.[4];
  const span = match?.[2] ?? match?.[5];
  if (trace === undefined || trace === ZERO_TRACE || span === ZERO_SPAN) {
    return { traceparent: `00-${randomHex(16)}-${randomHex(8)}-00`, continued: false };
  }
  const flags = Number.parseInt(match?.[3] ?? match?.[6] ?? '00', 16);
  return { traceparent: `00-${trace}-${randomHex(8)}-0${flags & FLAGS}`, continued: true };
}

/** The caller's X-Request-Id when it is safe to repeat and to log, else a new one. */
export function requestIdOf(received: string | null, authorization: string | null = null): string {
  if (received === null || !REQUEST_ID.test(received) || TOKEN.test(received)) return randomHex(16);
  return withoutCredential(received, authorization);
}

/** A new id where a credential is in the caller's: it may be a key of any form. */
export function withoutCredential(id: string, authorization: string | null): string {
  if (authorization === null) return id;
  const credential = authorization.slice(authorization.lastIndexOf(' ') + 1);
  return credential.length >= SHORTEST && id.includes(credential) ? randomHex(16) : id;
}
