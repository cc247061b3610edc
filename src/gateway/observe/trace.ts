import { randomFillSync } from 'node:crypto';

/** `00-<32 hex trace id>-<16 hex parent id>-<2 hex flags>` (W3C Trace Context, version 00). */
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const REQUEST_ID = /^[A-Za-z0-9._~+/=-]{1,128}$/;
const ZERO_TRACE = '0'.repeat(32);
const ZERO_SPAN = '0'.repeat(16);

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

/** This hop's traceparent: the caller's trace with an own span, or a new trace (not sampled) when theirs is not valid. */
export function nextTraceparent(received: string | null): { traceparent: string; continued: boolean } {
  const match = received === null ? null : TRACEPARENT.exec(received);
  const continued = match !== null && match[1] !== ZERO_TRACE && match[2] !== ZERO_SPAN;
  if (!continued) return { traceparent: `00-${randomHex(16)}-${randomHex(8)}-00`, continued };
  return { traceparent: `00-${match[1]!}-${randomHex(8)}-${match[3]!}`, continued };
}

/** The caller's X-Request-Id when it is safe to repeat, else a new one. */
export function requestIdOf(received: string | null): string {
  return received !== null && REQUEST_ID.test(received) ? received : randomHex(16);
}
