import { randomFillSync } from 'node:crypto';

/** `<version>-<trace id>-<parent id>-<flags>` in hex (W3C Trace Context); later versions may add more after a dash. */
const TRACEPARENT =
  /^(?:00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})|(?!00|ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?)$/;
const REQUEST_ID = /^[A-Za-z0-9._~+/=-]{1,128}$/;
/** Our keys and admin tokens, tokens with the prefixes of well-known services, and JWTs. */
const TOKEN =
  /(?:^|[^A-Za-z0-9])(?:pt[ga]|[sprw]k|gh[oprsu]|github_pat|glpat|gldt|npm|xox[a-z]|xapp|whsec|hf|shp[a-z]{2})[_-]|^eyJ[\w-]+\.|^(?:AKIA|ASIA)[A-Z0-9]{16}$|^AIza[\w-]{35}$/;
/** No credential is shorter. */
const SHORTEST = 8;
const ZERO_TRACE = '0'.repeat(32);
const ZERO_SPAN = '0'.repeat(16);
/** Sampled, with a random trace ID. */
const FLAGS = 3;

const pool = Buffer.alloc(8192);
let used = pool.length;

/** `bytes` random bytes as hex, from a pool: a system call per ID would cost more than the ID. */
function randomHex(bytes: number): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.toString('hex', used - bytes, used);
}

/**
 * Continues the caller's trace with our own span, or starts a new one (not sampled) if theirs is not valid. A later
 * version is read as version 00; of its flags only `sampled` and `random` (level 2) are used.
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

/** The caller's X-Request-Id if it is safe to repeat and log, otherwise a new one. */
export function requestIdOf(received: string | null, authorization: string | null = null): string {
  if (received === null || !REQUEST_ID.test(received) || TOKEN.test(received)) return randomHex(16);
  return withoutCredential(received, authorization);
}

/** A new ID if the caller's contains a credential: it may be a key of any form. */
export function withoutCredential(id: string, authorization: string | null): string {
  if (authorization === null) return id;
  const credential = authorization.slice(authorization.lastIndexOf(' ') + 1);
  return credential.length >= SHORTEST && id.includes(credential) ? randomHex(16) : id;
}
