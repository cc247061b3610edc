import type { Test } from 'tap';
import type { RawAnswer } from '../servers/raw.js';

/**
 * Codes given by other tests: they need a store that is unavailable, a full gateway, another clock or another contract.
 */
export const ELSEWHERE: ReadonlySet<string> = new Set([
  'insecure_connection',
  'invalid_form',
  'store_unavailable',
  'plan_unavailable',
  'cost_exceeds_limit',
  'malformed_handshake',
  'overloaded',
  'operation_removed',
  'internal_error',
  'address_banned',
]);

const ITEM = /^"(minute|day|closed|usage|concurrency|[^"]+-minute)";r=(\d{1,15});t=(\d{1,15})$/;
/** A balance never resets. */
const LEFT = /^"(balance)";r=(\d{1,15})$/;
const CREDITED = /^"(balance)";q=(\d{1,15})$/;
const NEVER_S = Date.parse('9999-12-31T23:59:59Z') / 1_000;
/** A limit of requests in flight has no window. Its state is known, and sent, only when it refuses. */
const IN_FLIGHT = /^"(concurrency)";q=(\d{1,15});qu="concurrent-requests"$/;
const POLICY = /^"(minute|day|closed|usage|[^"]+-minute)";q=(\d{1,15});w=(\d{1,15})$/;

/**
 * What holds for every answer of the public port, whatever its status: the triple, the RateLimit
 * fields, and that they agree with each other, with the status and with the clock.
 */
export function checkHonest(t: Test, answer: RawAnswer, name: string): void {
  const number = (field: string): number => {
    const value = answer.headers.get(field) ?? '';
    t.match(value, /^\d{1,16}$/, `${name}: ${field} is one whole number`);
    return Number(value);
  };
  // When it was sent: a busy machine may read it much later.
  const nowS = Date.parse(answer.headers.get('date') ?? new Date().toUTCString()) / 1000;
  const limit = number('x-ratelimit-limit');
  const remaining = number('x-ratelimit-remaining');
  const reset = number('x-ratelimit-reset');
  t.ok(remaining <= limit, `${name}: no more remaining than the limit`);
  t.ok(reset >= Math.floor(nowS) - 1, `${name}: Reset is not in the past`, { found: reset, nowS });
  t.ok(reset <= nowS + 90_000 || reset === NEVER_S, `${name}: Reset is within a day, or never`);
  t.match(answer.headers.get('x-request-id') ?? '', /^[\w.~+/=-]{1,128}$/, `${name}: carries one X-Request-Id`);
  checkWindows(t, answer, name, limit, remaining);
  if (answer.status === 429 || answer.status === 503) {
    const retryAfter = number('retry-after');
    t.ok(retryAfter >= 1, `${name}: Retry-After is at least a second`);
    if (answer.status === 429) {
      t.equal(remaining, 0, `${name}: nothing remains on a 429`);
      t.ok(Math.abs(nowS + retryAfter - reset) <= 2, `${name}: Retry-After and Reset say the same`, {
        retryAfter,
        reset,
        nowS,
      });
    }
  }
  if (answer.status >= 400) checkError(t, answer, name);
}

function checkWindows(t: Test, answer: RawAnswer, name: string, limit: number, remaining: number): void {
  const items = (answer.headers.get('ratelimit') ?? '').split(', ').map((item) => ITEM.exec(item) ?? LEFT.exec(item));
  const policies = (answer.headers.get('ratelimit-policy') ?? '')
    .split(', ')
    .map((policy) => POLICY.exec(policy) ?? IN_FLIGHT.exec(policy) ?? CREDITED.exec(policy));
  const unlimited = limit === Number.MAX_SAFE_INTEGER;
  if (unlimited) return;
  t.ok(
    items.every((item) => item !== null),
    `${name}: RateLimit is well-formed`,
    { found: answer.headers.get('ratelimit') },
  );
  t.ok(
    policies.every((policy) => policy !== null),
    `${name}: RateLimit-Policy is well-formed`,
    { found: answer.headers.get('ratelimit-policy') },
  );
  t.equal(
    items.map((item) => item?.[1]).join(),
    policies
      .map((policy) => policy?.[1])
      .filter((policy) => policy !== 'concurrency' || items.some((item) => item?.[1] === policy))
      .join(),
    `${name}: both fields name the same windows`,
  );
  const left = items.map((item) => Number(item?.[2]));
  t.equal(Math.min(...left), remaining, `${name}: the triple speaks for the window that refuses first`);
  t.ok(
    policies.some((policy) => Number(policy?.[2]) === limit),
    `${name}: the limit is one of the policy's`,
  );
}

function checkError(t: Test, answer: RawAnswer, name: string): void {
  if (answer.body === '') return;
  // The upstream says the charset that JSON has anyway.
  t.match(
    answer.headers.get('content-type') ?? '',
    /^application\/json(; charset=utf-8)?$/,
    `${name}: the error is JSON`,
  );
  const error = JSON.parse(answer.body) as Record<string, unknown>;
  t.equal(
    Object.keys(error).sort().join(),
    'code,message,status',
    `${name}: the Error body has its three fields and no other`,
  );
  t.equal(error['status'], answer.status, `${name}: the body's status is the answer's`);
  t.match(String(error['code']), /^[a-z]+(_[a-z]+)*$/, `${name}: the code is lower_snake_case`);
  t.ok(String(error['message']).length > 15, `${name}: the message says something`);
}

export function codeOf(answer: RawAnswer): string {
  return answer.body === '' ? '' : String((JSON.parse(answer.body) as Record<string, unknown>)['code']);
}
