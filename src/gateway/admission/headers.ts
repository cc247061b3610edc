import { UNLIMITED_FIGURE } from './bucket.js';
import type { Limit, WindowFigures } from './bucket.js';
import { monthStartMs } from '../../shared/utc-month.js';
import type { NamedFigures, StandingVerdict } from './verdict.js';

/**
 * The rate fields of an answer, flat `[name, value, …]`: the contract's X-RateLimit-* triple for the
 * binding window, and RateLimit / RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers) for all: its `t` is
 * the time until more can be had. For an empty window that is never later than Retry-After, nor that than Reset.
 * An unlimited window has no form there, and is left out of both.
 * @param sinceMs time since the verdict came: a Reset must not lie in the past after a slow answer
 */
export function rateHeaders(verdict: StandingVerdict, sinceMs: number): string[] {
  const nowMs = verdict.atMs + sinceMs;
  if (verdict.outcome === 'banned') return bannedHeaders(verdict, verdict.retryAtMs, nowMs);
  const binding = bindingWindow(verdict);
  const headers = triple(binding.limit, binding.remaining, binding.resetAtMs, nowMs);
  const limit = listed(verdict, nowMs);
  if (limit !== '') headers.push('RateLimit', limit, 'RateLimit-Policy', policy(verdict));
  return headers;
}

/** While no verdict can be had, nothing is admitted: that is the limit in force, and it holds `retryS` seconds. */
export function closedHeaders(nowMs: number, retryS: number): string[] {
  return [
    'X-RateLimit-Limit',
    '0',
    'X-RateLimit-Remaining',
    '0',
    'X-RateLimit-Reset',
    String(Math.ceil(nowMs / 1000) + retryS),
    'RateLimit',
    `"closed";r=0;t=${retryS}`,
    'RateLimit-Policy',
    `"closed";q=0;w=${retryS}`,
  ];
}

/** Whole seconds until a retry can succeed, at least 1; null when the verdict refuses nothing. */
export function retryAfterS(verdict: StandingVerdict, sinceMs: number): number | null {
  if (verdict.outcome === 'admitted') return null;
  return Math.max(1, Math.ceil((verdict.retryAtMs - verdict.atMs - sinceMs) / 1000));
}

/** What the fields say of each window. */
type Figures = Pick<StandingVerdict, 'minute' | 'day' | 'more'>;

/**
 * The window that will refuse first: on a refusal the violated one that resets last, else the one with fewest requests
 * left.
 */
function bindingWindow(verdict: StandingVerdict): WindowFigures {
  if (verdict.outcome === 'limited') return windowOf(verdict, verdict.violated);
  const { minute, day, more, cost } = verdict;
  let binding = refusesFirst(minute, day, cost);
  for (const window of more) binding = refusesFirst(binding, window, cost);
  return binding;
}

function windowOf({ minute, day, more }: Figures, name: string): WindowFigures {
  if (name === 'minute') return minute;
  return more.find((window) => window.name === name) ?? day;
}

/** Of two windows the one with fewer requests of this cost left; of equals the one that resets last. */
function refusesFirst(one: WindowFigures, other: WindowFigures, cost: number): WindowFigures {
  const [left, otherLeft] =
    cost > 1 ? [requestsIn(one, cost), requestsIn(other, cost)] : [one.remaining, other.remaining];
  if (left !== otherLeft) return left < otherLeft ? one : other;
  return one.resetAtMs > other.resetAtMs ? one : other;
}

function requestsIn({ remaining }: WindowFigures, cost: number): number {
  return Math.floor(remaining / cost);
}

function bannedHeaders(verdict: Figures, retryAtMs: number, nowMs: number): string[] {
  const { minute, day, more } = verdict;
  let fewest: WindowFigures = minute.remaining <= day.remaining ? minute : day;
  for (const window of more) if (window.remaining < fewest.remaining) fewest = window;
  const headers = triple(fewest.limit, 0, retryAtMs, nowMs);
  const list = listedClosed(verdict, secondsUntil(retryAtMs, nowMs));
  if (list !== '') headers.push('RateLimit', list, 'RateLimit-Policy', policy(verdict));
  return headers;
}

/** While a ban is in force every window is as good as empty, until it ends. */
function listedClosed({ minute, day, more }: Figures, seconds: number): string {
  const closed = `";r=0;t=${seconds}`;
  let list = minute.limit === 'unlimited' ? '' : `"minute${closed}`;
  if (day.limit !== 'unlimited') list += `${list === '' ? '' : ', '}"day${closed}`;
  for (const { name, limit } of more) if (limit !== 'unlimited') list += `${list === '' ? '' : ', '}"${name}${closed}`;
  return list;
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

function listed({ minute, day, more }: Figures, nowMs: number): string {
  const first =
    minute.limit === 'unlimited'
      ? ''
      : `"minute";r=${minute.remaining};t=${secondsUntil(minute.nextAtMs ?? minute.resetAtMs, nowMs)}`;
  const second =
    day.limit === 'unlimited' ? '' : `"day";r=${day.remaining};t=${secondsUntil(day.nextAtMs ?? day.resetAtMs, nowMs)}`;
  let list = first !== '' && second !== '' ? `${first}, ${second}` : first + second;
  for (const { name, limit, remaining, nextAtMs, resetAtMs } of more)
    if (limit !== 'unlimited')
      list += `${list === '' ? '' : ', '}"${name}";r=${remaining};t=${secondsUntil(nextAtMs ?? resetAtMs, nowMs)}`;
  return list;
}

function policy({ minute, day, more }: Figures): string {
  const first = minute.limit === 'unlimited' ? '' : `"minute";q=${minute.limit};w=60`;
  const second = day.limit === 'unlimited' ? '' : `"day";q=${day.limit};w=86400`;
  let list = first !== '' && second !== '' ? `${first}, ${second}` : first + second;
  for (const window of more)
    if (window.limit !== 'unlimited')
      list += `${list === '' ? '' : ', '}"${window.name}";q=${window.limit};w=${secondsOf(window)}`;
  return list;
}

/** How long the window is; a month ends with its reset. */
function secondsOf({ per, resetAtMs }: NamedFigures): number {
  if (per === 'month') return (resetAtMs - monthStartMs(resetAtMs - 1)) / 1000;
  return per === 'day' ? 86_400 : 60;
}

function secondsUntil(atMs: number, nowMs: number): number {
  return Math.max(0, Math.ceil((atMs - nowMs) / 1000));
}
