import { DAY_MS } from '../../shared/utc-day.js';
import { LONGEST_MONTH_MS, monthEndMs, monthStartMs } from '../../shared/utc-month.js';

/**
 * The bucket: `{limit, per, refill}` that remembers what was spent, so that a plan may change in the middle of a
 * window.
 *
 * Spent is kept as a level in parts of a token, so that greedy refill is exact integer arithmetic: one token
 * is `perMs` parts, and `limit` parts trickle back each millisecond. A month never trickles: it counts whole tokens.
 * `(MAX_LIMIT + MAX_COST) × parts` stays below 2^53, so JavaScript and Lua count alike.
 */
export type Per = 'minute' | 'day' | 'month';
export type Limit = number | 'unlimited';
export type Refill = 'interval' | 'greedy';
export interface Limits {
  readonly minute: Limit;
  readonly day: Limit;
  /** Left out where no month is counted. */
  readonly month?: Limit;
}

export const MINUTE_MS = 60_000;
export { DAY_MS };
/** A UTC day is final so long after its end: whatever was admitted in it has ended by then. */
export const SETTLE_MS = 3_600_000;
export const MAX_LIMIT = 100_000_000;
/** What one request may cost at most. */
export const MAX_COST = 1_000_000;
/** What a header shows for `unlimited`: the largest integer every client reads exactly. */
export const UNLIMITED_FIGURE = Number.MAX_SAFE_INTEGER;

/** What a store keeps of one window. `atMs` is the window's start (interval) or the last refill (greedy). */
export interface BucketState {
  level: number;
  atMs: number;
}

/** One window as headers show it, after the decision. Times are the store's, in ms. */
export interface WindowFigures {
  /** `minute`, `day`, `month`, or that of an operation's window. */
  readonly name: string;
  readonly per: Per;
  readonly limit: Limit;
  readonly remaining: number;
  /** When it is whole again. */
  readonly resetAtMs: number;
  /** When the next token comes, of a window that gets them one by one (greedy); left out where that is its reset. */
  readonly nextAtMs?: number;
  /** What of the limit is granted for a while, and until when it is so much; left out where nothing is. */
  readonly granted?: { readonly units: number; readonly untilMs: number };
}

/**
 * Bucket facts that never change: day and month are those of the UTC calendar, the minute opens with its first request.
 */
export interface BucketShape {
  readonly per: Per;
  /** How long it is; of a month the longest there is. */
  readonly perMs: number;
  /** What one token is in a level. */
  readonly parts: number;
}
export const SHAPES: Readonly<Record<Per, BucketShape>> = {
  minute: { per: 'minute', perMs: MINUTE_MS, parts: MINUTE_MS },
  day: { per: 'day', perMs: DAY_MS, parts: DAY_MS },
  month: { per: 'month', perMs: LONGEST_MONTH_MS, parts: 1 },
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
  const startMs = windowStartMs(shape, nowMs);
  // A calendar's window begins with it, so that a time before the present one's start is of an earlier one.
  const over = shape.per === 'minute' ? nowMs - state.atMs >= shape.perMs : state.atMs < startMs;
  if (over) state.level = 0;
  // An empty bucket has no window yet: it opens with the next token spent.
  if (state.level === 0 || state.atMs > nowMs) state.atMs = startMs;
}

/** True when `tokens` may be spent from the settled `state`. */
export function holds(state: BucketState, shape: BucketShape, limit: Limit, tokens: number): boolean {
  return limit === 'unlimited' || state.level + tokens * shape.parts <= limit * shape.parts;
}

/** When `tokens` can be had from a settled bucket that does not hold them, store ms. */
export function tokensAtMs(
  state: BucketState,
  shape: BucketShape,
  limit: number,
  refill: Refill,
  tokens: number,
): number {
  // More tokens than the limit are never there; whoever asks for them again waits for a whole window.
  if (refill === 'interval') return shape.per === 'minute' ? state.atMs + shape.perMs : windowEndMs(state, shape);
  return state.atMs + Math.ceil((state.level + tokens * shape.parts - limit * shape.parts) / limit);
}

/** Spends tokens. An unlimited bucket counts too, so that a plan change in mid-window is right at once. */
export function spend(state: BucketState, shape: BucketShape, tokens: number): void {
  const ceiling = MAX_LIMIT * shape.parts;
  state.level = Math.min(state.level + tokens * shape.parts, ceiling);
}

/** Limit, remaining and reset of a settled bucket. An untouched minute is full already: it resets now. */
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

/** When a window that is opened now began: one of the calendar with it. */
export function windowStartMs({ per, perMs }: BucketShape, nowMs: number): number {
  if (per === 'minute') return nowMs;
  return per === 'day' ? nowMs - (nowMs % perMs) : monthStartMs(nowMs);
}

function windowEndMs(state: BucketState, { per, perMs }: BucketShape): number {
  if (per === 'minute') return state.level === 0 ? state.atMs : state.atMs + perMs;
  return per === 'day' ? state.atMs - (state.atMs % perMs) + perMs : monthEndMs(state.atMs);
}
