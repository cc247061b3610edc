import { UNLIMITED_FIGURE, type Limit, type WindowFigures } from './bucket.js';
import { monthStartMs } from '../../shared/utc-month.js';
import { CONCURRENCY } from './leases.js';
import type { LimitedVerdict, StandingVerdict } from './verdict.js';

/**
 * Returns the rate fields of a response, flat: `[name, value, …]`. The contract's X-RateLimit-* triple shows the
 * binding window, RateLimit and RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers) show all. Both omit unlimited
 * windows, which the draft cannot express, and say no time for a balance, which never resets.
 * @param sinceMs time since the verdict: Reset must not be in the past after a slow response
 */
export function rateHeaders(verdict: StandingVerdict, sinceMs: number): string[] {
  const nowMs = verdict.atMs + sinceMs;
  const { windows, concurrency } = verdict;
  const inFlight = concurrency === undefined ? NOTHING : inFlightOf(verdict, concurrency, nowMs);
  if (verdict.outcome === 'banned') return bannedHeaders(windows, verdict.retryAtMs, nowMs, inFlight);
  const stateOf = (window: WindowFigures): string =>
    window.per === 'balance' ? `r=${window.remaining}` : `r=${window.remaining};t=${effectiveS(window, nowMs)}`;
  return [...tripleOf(verdict, nowMs), ...fieldsOf(windows, stateOf, inFlight)];
}

function tripleOf(verdict: StandingVerdict, nowMs: number): string[] {
  if (isCrowded(verdict)) return triple(verdict.concurrency ?? 0, 0, verdict.retryAtMs, nowMs);
  const { limit, remaining, resetAtMs } = bindingWindow(verdict);
  return triple(limit, remaining, resetAtMs, nowMs);
}

function isCrowded(verdict: StandingVerdict): verdict is LimitedVerdict {
  return verdict.outcome === 'limited' && verdict.violated === CONCURRENCY;
}

/** What RateLimit and RateLimit-Policy have besides the windows. */
interface Extra {
  readonly state: string;
  readonly policy: string;
}
const NOTHING: Extra = { state: '', policy: '' };

/** The limit of requests in flight. How many there are is known only when it refuses. */
function inFlightOf(verdict: StandingVerdict, concurrency: number, nowMs: number): Extra {
  const policy = `"${CONCURRENCY}";q=${concurrency};qu="concurrent-requests"`;
  if (!isCrowded(verdict)) return { state: '', policy };
  return { state: `"${CONCURRENCY}";r=0;t=${secondsUntil(verdict.retryAtMs, nowMs)}`, policy };
}

/**
 * Returns `t`: the client may send `r` requests within `t` seconds. Interval refill: until the reset. Greedy refill:
 * until `r` units have returned (60 per minute: `r=40;t=40`); with nothing left, or a grant, until the next unit.
 * It is never later than Retry-After.
 */
function effectiveS(window: WindowFigures, nowMs: number): number {
  const { limit, remaining, nextAtMs, resetAtMs, granted } = window;
  if (nextAtMs === undefined || limit === 'unlimited') return secondsUntil(resetAtMs, nowMs);
  if (remaining === 0 || granted !== undefined) return secondsUntil(nextAtMs, nowMs);
  return Math.ceil((remaining * secondsOf(window)) / limit);
}

/** Returns the rate fields of a response without a verdict: nothing is admitted for `retryS` seconds. */
export function closedHeaders(nowMs: number, retryS: number): string[] {
  const fields = ['RateLimit', `"closed";r=0;t=${retryS}`, 'RateLimit-Policy', `"closed";q=0;w=${retryS}`];
  return [...triple(0, 0, nowMs + retryS * 1000, nowMs), ...fields];
}

/** Returns the whole seconds until a retry can succeed, at least 1; null if nothing was refused. */
export function retryAfterS(verdict: StandingVerdict, sinceMs: number): number | null {
  if (verdict.outcome === 'admitted') return null;
  return Math.max(1, Math.ceil((verdict.retryAtMs - verdict.atMs - sinceMs) / 1000));
}

/**
 * Returns the binding window: after a 429 the violated one that resets last, otherwise the one with the fewest requests
 * left.
 */
function bindingWindow(verdict: StandingVerdict): WindowFigures {
  const { windows } = verdict;
  if (verdict.outcome === 'limited') return windows.find(({ name }) => name === verdict.violated)!;
  return windows.reduce((binding, window) => refusesFirst(binding, window, verdict.cost));
}

/** Returns the window with fewer requests of this cost left; if equal, the one that resets last. */
function refusesFirst(one: WindowFigures, other: WindowFigures, cost: number): WindowFigures {
  const [left, otherLeft] =
    cost > 1 ? [requestsIn(one, cost), requestsIn(other, cost)] : [one.remaining, other.remaining];
  if (left !== otherLeft) return left < otherLeft ? one : other;
  return one.resetAtMs > other.resetAtMs ? one : other;
}

function requestsIn({ remaining }: WindowFigures, cost: number): number {
  return Math.floor(remaining / cost);
}

/** During a ban, every window counts as empty until the ban ends. */
function bannedHeaders(windows: readonly WindowFigures[], retryAtMs: number, nowMs: number, inFlight: Extra): string[] {
  const fewest = windows.reduce((least, window) => (window.remaining < least.remaining ? window : least));
  const closed = `r=0;t=${secondsUntil(retryAtMs, nowMs)}`;
  return [...triple(fewest.limit, 0, retryAtMs, nowMs), ...fieldsOf(windows, () => closed, inFlight)];
}

function triple(limit: Limit, remaining: number, resetAtMs: number, nowMs: number): string[] {
  return [
    'X-RateLimit-Limit',
    String(limit === 'unlimited' ? UNLIMITED_FIGURE : limit),
    'X-RateLimit-Remaining',
    String(remaining),
    'X-RateLimit-Reset',
    String(Math.ceil(Math.max(resetAtMs, nowMs) / 1000)),
  ];
}

/**
 * RateLimit and RateLimit-Policy; nothing if no window has a limit.
 * @param extra follows the windows
 */
function fieldsOf(
  windows: readonly WindowFigures[],
  stateOf: (window: WindowFigures) => string,
  extra: Extra,
): readonly string[] {
  let [state, policy] = ['', ''];
  for (const window of windows) {
    const { name, limit } = window;
    if (limit === 'unlimited') continue;
    const next = state === '' ? '' : ', ';
    const text = name === window.per ? `"${name}"` : stringOf(name);
    state += `${next}${text};${stateOf(window)}`;
    policy += `${next}${text};q=${limit}${window.per === 'balance' ? '' : `;w=${secondsOf(window)}`}`;
  }
  if (extra.state !== '') state += state === '' ? extra.state : `, ${extra.state}`;
  if (extra.policy !== '') policy += policy === '' ? extra.policy : `, ${extra.policy}`;
  const states = state === '' ? [] : ['RateLimit', state];
  return policy === '' ? states : [...states, 'RateLimit-Policy', policy];
}

/** Returns the name of an operation's window as a String (RFC 9651): quoted ASCII, the rest percent-encoded. */
function stringOf(name: string): string {
  let text = texts.get(name);
  if (text === undefined) {
    const ascii = name.replace(/[^\x20-\x7e]+/g, encodeURIComponent).replace(/["\\]/g, '\\$&');
    texts.set(name, (text = `"${ascii}"`));
  }
  return text;
}
/** Cannot grow without bound: only plans define windows. */
const texts = new Map<string, string>();

/** Returns the length of the window; a month ends with its reset. */
function secondsOf({ per, resetAtMs }: WindowFigures): number {
  if (per === 'month') return (resetAtMs - monthStartMs(resetAtMs - 1)) / 1000;
  return per === 'day' ? 86_400 : 60;
}

function secondsUntil(atMs: number, nowMs: number): number {
  return Math.max(0, Math.ceil((atMs - nowMs) / 1000));
}
