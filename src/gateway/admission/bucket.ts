import { DAY_MS } from '../../shared/utc-day.js';
import { LONGEST_MONTH_MS, monthEndMs, monthStartMs } from '../../shared/utc-month.js';

/**
 * The bucket: `{limit, per, refill}`. It stores what was spent, so that a plan can change in mid-window.
 *
 * The level is in parts of a token, which makes greedy refill exact integer arithmetic: a token is `perMs` parts,
 * and `limit` parts return each millisecond. A month has no greedy refill: it counts whole tokens.
 * `(MAX_LIMIT + MAX_COST) × parts` stays below 2^53, so that JavaScript and Lua agree.
 */
export type Per = 'minute' | 'day' | 'month' | 'balance';
export type Limit = number | 'unlimited';
export type Refill = 'interval' | 'greedy';
export interface Limits {
  readonly minute: Limit;
  readonly day: Limit;
  /** Absent if the plan has no limit per month. */
  readonly month?: Limit;
  /** On a prepaid plan, the sum of credits; never refilled. */
  readonly balance?: Limit;
  /** Requests in flight; only in the limits of a key or customer of its own. */
  readonly concurrency?: number;
}

export const MINUTE_MS = 60_000;
export { DAY_MS };
/** A UTC day is final this long after its end: everything admitted in it has ended by then. */
export const SETTLE_MS = 3_600_000;
export const MAX_LIMIT = 100_000_000;
/** The highest sum of credits. Levels of a balance are whole tokens, so it may exceed the other limits. */
export const MAX_BALANCE = 1_000_000_000_000;
/** The highest cost of a request. */
export const MAX_COST = 1_000_000;
/** Headers show it for `unlimited`: the largest integer that every client reads exactly. */
export const UNLIMITED_FIGURE = Number.MAX_SAFE_INTEGER;

/** A window as stored. `atMs` is its start (interval) or the last refill (greedy). */
export interface BucketState {
  level: number;
  atMs: number;
}

/** A window as headers show it, after the decision. Times are store ms. */
export interface WindowFigures {
  /** `minute`, `day`, `month`, or the name of an operation's window. */
  readonly name: string;
  readonly per: Per;
  readonly limit: Limit;
  readonly remaining: number;
  /** When it is full again. */
  readonly resetAtMs: number;
  /** When the next token arrives, for greedy refill; absent if that is the reset. */
  readonly nextAtMs?: number;
  /** The granted part of the limit, and how long it holds; absent without a grant. */
  readonly granted?: { readonly units: number; readonly untilMs: number };
}

/**
 * Constants of each window: day and month follow the UTC calendar; a minute begins with its first request.
 */
export interface BucketShape {
  readonly per: Per;
  /** Its length; for a month, the longest one. */
  readonly perMs: number;
  /** Parts of one token. */
  readonly parts: number;
  /** The highest level: more is not counted. */
  readonly ceiling: number;
}
export const SHAPES: Readonly<Record<Per, BucketShape>> = {
  minute: { per: 'minute', perMs: MINUTE_MS, parts: MINUTE_MS, ceiling: MAX_LIMIT * MINUTE_MS },
  day: { per: 'day', perMs: DAY_MS, parts: DAY_MS, ceiling: MAX_LIMIT * DAY_MS },
  month: { per: 'month', perMs: LONGEST_MONTH_MS, parts: 1, ceiling: MAX_LIMIT },
  balance: { per: 'balance', perMs: Infinity, parts: 1, ceiling: MAX_BALANCE },
};
/** When a balance resets: never. It is the last second of the last year of four digits. */
const NEVER_MS = Date.UTC(9999, 11, 31, 23, 59, 59);

/**
 * Brings `state` up to `nowMs`. A time in the future, from a clock that has since stepped back, counts as now and keeps
 * what was spent: the window does not reopen too soon, and ends at most one window from now.
 */
export function settle(state: BucketState, shape: BucketShape, limit: Limit, refill: Refill, nowMs: number): void {
  if (refill === 'greedy' && limit !== 'unlimited') {
    const refilled = nowMs > state.atMs ? limit * (nowMs - state.atMs) : 0;
    state.level = refilled >= state.level ? 0 : state.level - refilled;
    state.atMs = nowMs;
    return;
  }
  const startMs = windowStartMs(shape, nowMs);
  // Calendar windows begin with the calendar: a time before the start of the current one belongs to an earlier one.
  const over = shape.per === 'minute' ? nowMs - state.atMs >= shape.perMs : state.atMs < startMs;
  if (over) state.level = 0;
  // A bucket with nothing spent has no window yet: the next token opens it.
  if (state.level === 0 || state.atMs > nowMs) state.atMs = startMs;
}

/** Returns whether the settled `state` has `tokens` left. */
export function holds(state: BucketState, shape: BucketShape, limit: Limit, tokens: number): boolean {
  return limit === 'unlimited' || state.level + tokens * shape.parts <= limit * shape.parts;
}

/** Returns when a settled bucket that lacks `tokens` will have them, store ms. */
export function tokensAtMs(
  state: BucketState,
  shape: BucketShape,
  limit: number,
  refill: Refill,
  tokens: number,
): number {
  if (refill === 'interval') return shape.per === 'minute' ? state.atMs + shape.perMs : windowEndMs(state, shape);
  return state.atMs + Math.ceil((state.level + tokens * shape.parts - limit * shape.parts) / limit);
}

/** Spends tokens. Unlimited buckets count too, so that a plan change in mid-window is exact. */
export function spend(state: BucketState, shape: BucketShape, tokens: number): void {
  state.level = Math.min(state.level + tokens * shape.parts, shape.ceiling);
}

/** Returns limit, remaining and reset of a settled bucket. A minute with nothing spent resets now. */
export function figuresOf(
  state: BucketState,
  shape: BucketShape,
  limit: Limit,
  refill: Refill,
  name: string = shape.per,
): WindowFigures {
  const { per } = shape;
  if (limit === 'unlimited') {
    return { name, per, limit, remaining: UNLIMITED_FIGURE, resetAtMs: windowEndMs(state, shape) };
  }
  const free = Math.max(0, Math.floor((limit * shape.parts - state.level) / shape.parts));
  if (refill === 'interval') return { name, per, limit, remaining: free, resetAtMs: windowEndMs(state, shape) };
  const resetAtMs = state.atMs + Math.ceil(state.level / limit);
  const missing = state.level - (limit - free - 1) * shape.parts;
  return {
    name,
    per,
    limit,
    remaining: free,
    resetAtMs,
    nextAtMs: free === limit ? resetAtMs : state.atMs + Math.ceil(missing / limit),
  };
}

/**
 * Returns the start of a window that opens now, store ms: for a day or month, the start of that UTC day or month; 0 for
 * a balance.
 */
export function windowStartMs({ per, perMs }: BucketShape, nowMs: number): number {
  if (per === 'minute') return nowMs;
  if (per === 'balance') return 0;
  return per === 'day' ? nowMs - (nowMs % perMs) : monthStartMs(nowMs);
}

function windowEndMs(state: BucketState, { per, perMs }: BucketShape): number {
  if (per === 'minute') return state.level === 0 ? state.atMs : state.atMs + perMs;
  if (per === 'balance') return NEVER_MS;
  return per === 'day' ? state.atMs - (state.atMs % perMs) + perMs : monthEndMs(state.atMs);
}
