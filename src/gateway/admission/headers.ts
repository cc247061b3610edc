import { UNLIMITED_FIGURE } from './bucket.js';
import type { Limit, WindowFigures } from './bucket.js';
import type { StandingVerdict } from './verdict.js';

/**
 * The rate fields of an answer, flat `[name, value, …]`: the contract's X-RateLimit-* triple for the
 * binding window, and RateLimit / RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers) for all: its `t` is
 * the time until more can be had. For an empty window that is never later than Retry-After, nor that than Reset.
 * An unlimited window has no form there, and is left out of both.
 * @param sinceMs time since the verdict came: a Reset must not lie in the past after a slow answer
 */
export function rateHeaders(verdict: StandingVerdict, sinceMs: number): string[] {
  const nowMs = verdict.atMs + sinceMs;
  if (verdict.outcome === 'banned') return bannedHeaders(verdict.minute, verdict.day, verdict.retryAtMs, nowMs);
  const binding = bindingWindow(verdict);
  const headers = triple(binding.limit, binding.remaining, binding.resetAtMs, nowMs);
  const limit = listed(verdict.minute, verdict.day, nowMs);
  if (limit !== '')
    headers.push('RateLimit', limit, 'RateLimit-Policy', policy(verdict.minute.limit, verdict.day.limit));
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

/** The window that will refuse first: on a refusal the violated one that fills last, else the one with fewest left. */
function bindingWindow(verdict: StandingVerdict): WindowFigures {
  if (verdict.outcome === 'limited') return verdict[verdict.violated];
  const { minute, day } = verdict;
  if (minute.remaining !== day.remaining) return minute.remaining < day.remaining ? minute : day;
  return minute.resetAtMs > day.resetAtMs ? minute : day;
}

function bannedHeaders(minute: WindowFigures, day: WindowFigures, retryAtMs: number, nowMs: number): string[] {
  const limit = minute.remaining <= day.remaining ? minute.limit : day.limit;
  const headers = triple(limit, 0, retryAtMs, nowMs);
  const closed = { remaining: 0, resetAtMs: retryAtMs, nextAtMs: retryAtMs };
  const closedMinute = { ...minute, ...closed };
  const closedDay = { ...day, ...closed };
  const list = listed(closedMinute, closedDay, nowMs);
  if (list !== '') headers.push('RateLimit', list, 'RateLimit-Policy', policy(minute.limit, day.limit));
  return headers;
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

function listed(minute: WindowFigures, day: WindowFigures, nowMs: number): string {
  const first =
    minute.limit === 'unlimited'
      ? ''
      : `"minute";r=${minute.remaining};t=${secondsUntil(minute.nextAtMs ?? minute.resetAtMs, nowMs)}`;
  const second =
    day.limit === 'unlimited' ? '' : `"day";r=${day.remaining};t=${secondsUntil(day.nextAtMs ?? day.resetAtMs, nowMs)}`;
  return first !== '' && second !== '' ? `${first}, ${second}` : first + second;
}

function policy(minute: Limit, day: Limit): string {
  const first = minute === 'unlimited' ? '' : `"minute";q=${minute};w=60`;
  const second = day === 'unlimited' ? '' : `"day";q=${day};w=86400`;
  return first !== '' && second !== '' ? `${first}, ${second}` : first + second;
}

function secondsUntil(atMs: number, nowMs: number): number {
  return Math.max(0, Math.ceil((atMs - nowMs) / 1000));
}
