import { DAY_MS } from '../../shared/utc-day.js';

/**
 * The bucket: `{limit, per, refill}` that remembers what was spent, so that a plan may change in the middle of a window.
 *
 * Spent is kept as a level in units of 1/perMs token, so that greedy refill is exact integer
 * arithmetic: one token is `perMs` units, and `limit` units trickle back each millisecond.
 * `MAX_LIMIT × perMs` stays below 2^53, so JavaScript and Lua count alike.
 */
export type WindowName = 'minute' | 'day';
export type Limit = number | 'unlimited';
export type Refill = 'interval' | 'greedy';
export interface Limits {
  readonly minute: Limit;
  readonly day: Limit;
}

export const MINUTE_MS = 60_000;
export { DAY_MS };
/** A UTC day is final so long after its end: whatever was admitted in it has ended by then. */
export const SETTLE_MS = 3_600_000;
export const MAX_LIMIT = 100_000_000;
/** What a header shows for `unlimited`: the largest integer every client reads exactly. */
export const UNLIMITED_FIGURE = Number.MAX_SAFE_INTEGER;

/** What a store keeps of one window. `atMs` is the window's start (interval) or the last refill (greedy). */
export interface BucketState {
  level: number;
  atMs: number;
}

/** One window as headers show it, after the decision. Times are the store's, in ms. */
export interface WindowFigures {
  readonly limit: Limit;
  readonly remaining: number;
  /** When it is whole again. */
  readonly resetAtMs: number;
  /** When the next token comes, of a window that gets them one by one (greedy); left out where that is its reset. */
  readonly nextAtMs?: number;
}

/** Bucket facts that never change: the day is the UTC calendar day, the minute opens with its first request. */
export interface BucketShape {
  readonly perMs: number;
  readonly calendar: boolean;
}
export const SHAPES: Readonly<Record<WindowName, BucketShape>> = {
  minute: { perMs: MINUTE_MS, calendar: false },
  day: { perMs: DAY_MS, calendar: true },
};

/**
 * Brings `state` up to `nowMs`. A time in the future, of a clock that has stepped back since, is taken as now
 * with all that was spent: so the window is not open again too soon, and ends one window from now at the latest.
 */
export function settle(state: BucketState, shape: BucketShape, limit: Limit, refill: Refill, nowMs: number): void {
  if (refill === 'greedy' && limit !== 'unlimited') {
    const refilled = nowMs > state.atMs ? limit * (nowMs - state.atMs) : 0;
    state.level = refilled >= state.level ? 0 : state.level - refilled;
    state.atMs = nowMs;
    return;
  }
  const over = shape.calendar
    ? Math.floor(nowMs / shape.perMs) > Math.floor(state.atMs / shape.perMs)
    : nowMs - state.atMs >= shape.perMs;
  if (over) state.level = 0;
  // An empty bucket has no window yet: it opens with the next token spent.
  if (state.level === 0 || state.atMs > nowMs) state.atMs = shape.calendar ? nowMs - (nowMs % shape.perMs) : nowMs;
}

/** True when one more token may be spent from the settled `state`. */
export function holds(state: BucketState, shape: BucketShape, limit: Limit): boolean {
  return limit === 'unlimited' || state.level + shape.perMs <= limit * shape.perMs;
}

/** When the next token can be had from a settled bucket that does not hold one, store ms. */
export function nextTokenAtMs(state: BucketState, shape: BucketShape, limit: number, refill: Refill): number {
  if (refill === 'interval') return windowEndMs(state, shape);
  return state.atMs + Math.ceil((state.level + shape.perMs - limit * shape.perMs) / limit);
}

/** Spends one token. An unlimited bucket counts too, so that a plan change in mid-window is right at once. */
export function spend(state: BucketState, shape: BucketShape): void {
  const ceiling = MAX_LIMIT * shape.perMs;
  state.level = Math.min(state.level + shape.perMs, ceiling);
}

/** Limit, remaining and reset of a settled bucket. An untouched minute is full already: it resets now. */
export function figuresOf(state: BucketState, shape: BucketShape, limit: Limit, refill: Refill): WindowFigures {
  if (limit === 'unlimited') {
    return { limit, remaining: UNLIMITED_FIGURE, resetAtMs: windowEndMs(state, shape) };
  }
  const free = Math.max(0, Math.floor((limit * shape.perMs - state.level) / shape.perMs));
  if (refill === 'interval') return { limit, remaining: free, resetAtMs: windowEndMs(state, shape) };
  const resetAtMs = state.atMs + Math.ceil(state.level / limit);
  const missing = state.level - (limit - free - 1) * shape.perMs;
  return {
    limit,
    remaining: free,
    resetAtMs,
    nextAtMs: free === limit ? resetAtMs : state.atMs + Math.ceil(missing / limit),
  };
}

function windowEndMs(state: BucketState, shape: BucketShape): number {
  if (shape.calendar) return state.atMs - (state.atMs % shape.perMs) + shape.perMs;
  return state.level === 0 ? state.atMs : state.atMs + shape.perMs;
}
