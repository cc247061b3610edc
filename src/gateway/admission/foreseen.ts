import { figuresOf, SHAPES, tokensAtMs, type BucketState, type Limit, type WindowFigures } from './bucket.js';
import type { Terms } from './plan.js';
import type { HeldWindow } from './windows.js';
import type { GrantExpiry } from './grant-expiries.js';

/** Headers round times up to whole seconds, so a promised time must be true for one more second. */
const ROUNDED_MS = 1_000;
const NONE: readonly GrantExpiry[] = [];

/** Adds what grants refilled until they ended, on top of the limit's own refill. Only greedy windows refill. */
export function settlePast(minute: BucketState, day: BucketState, { expiries, refill }: Terms, nowMs: number): void {
  if (expiries === undefined || refill === 'interval') return;
  minute.level = Math.max(0, minute.level - broughtBack(expiries.minute, minute.atMs, nowMs));
  day.level = Math.max(0, day.level - broughtBack(expiries.day, day.atMs, nowMs));
}

function broughtBack(expiries: readonly GrantExpiry[] = NONE, fromMs: number, nowMs: number): number {
  let back = 0;
  for (const { untilMs, units } of expiries)
    if (untilMs > fromMs && untilMs <= nowMs) back += units * (untilMs - fromMs);
  return back;
}

/** A period with a constant limit, and what grants that ended before it had refilled by then. */
interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
  readonly limit: number;
  readonly back: number;
}

/** Returns the periods from `nowMs` on; none for an unlimited window. */
function stretchesOf(limit: Limit, expiries: readonly GrantExpiry[], nowMs: number): readonly Stretch[] {
  if (limit === 'unlimited') return [];
  const toCome = expiries.filter(({ untilMs }) => untilMs > nowMs);
  let [fromMs, its, back] = [-Infinity, limit, 0];
  const stretches: Stretch[] = [];
  for (const { untilMs, units, after } of toCome) {
    stretches.push({ fromMs, toMs: untilMs, limit: its, back });
    [fromMs, its, back] = [untilMs, Number(after), back + units * (untilMs - nowMs)];
  }
  return [...stretches, { fromMs, toMs: Infinity, limit: its, back }];
}

/** Returns the first time, not before `fromMs`, that `comesAt` gives for a stretch which lasts one more second. */
function firstAt(stretches: readonly Stretch[], fromMs: number, comesAt: (stretch: Stretch) => number): number {
  for (const stretch of stretches) {
    const atMs = Math.max(fromMs, stretch.fromMs, comesAt(stretch));
    if (atMs + ROUNDED_MS <= stretch.toMs) return atMs;
  }
  return fromMs;
}

/** Returns `figuresOf()` for a window whose grants may end; `window` is settled at `nowMs`. */
export function figuresForeseen(
  window: Omit<HeldWindow, 'name'>,
  expiries: readonly GrantExpiry[] = NONE,
  nowMs: number,
): WindowFigures {
  const { per, limit, refill, bucket } = window;
  const figures = figuresOf(bucket, SHAPES[per], limit, refill);
  const granted = grantedOf(limit, expiries, nowMs);
  if (limit === 'unlimited' || granted === undefined) return figures;
  if (refill === 'interval') return { ...figures, granted };
  const stretches = stretchesOf(limit, expiries, bucket.atMs);
  const { parts } = SHAPES[per];
  const next = figures.remaining + 1;
  const backAt = (missing: number, its: Stretch): number =>
    bucket.atMs + Math.ceil(Math.max(0, missing - its.back) / its.limit);
  const wholeAt = (its: Stretch): number => backAt(bucket.level, its);
  // A stretch with a lower limit never has `next` tokens: its best time is when it is full.
  const nextAt = (its: Stretch): number =>
    next > its.limit ? wholeAt(its) : backAt(bucket.level - (its.limit - next) * parts, its);
  return {
    ...figures,
    granted,
    resetAtMs: firstAt(stretches, bucket.atMs, wholeAt),
    nextAtMs: firstAt(stretches, bucket.atMs, nextAt),
  };
}

/** The granted part of a limit, and until when; undefined without a grant. */
function grantedOf(limit: Limit, expiries: readonly GrantExpiry[], nowMs: number): WindowFigures['granted'] {
  const toCome = expiries.filter(({ untilMs }) => untilMs > nowMs);
  const first = toCome.find(({ after }) => after !== limit);
  if (limit === 'unlimited' || first === undefined) return undefined;
  return { units: limit - Number(toCome.at(-1)!.after), untilMs: first.untilMs };
}

/** Returns the earliest time from `fromMs` at which a window settled at `nowMs` has `tokens`, store ms. */
export function heldFrom(
  { per, limit, refill, bucket }: HeldWindow,
  expiries: readonly GrantExpiry[] = NONE,
  tokens: number,
  nowMs: number,
  fromMs: number,
): number {
  const { parts } = SHAPES[per];
  return firstAt(stretchesOf(limit, expiries, nowMs), fromMs, (its) => {
    const missing = bucket.level + (tokens - its.limit) * parts;
    if (missing <= 0) return fromMs;
    if (refill === 'interval') return tokensAtMs(bucket, SHAPES[per], its.limit, refill, tokens);
    return bucket.atMs + Math.ceil(Math.max(0, missing - its.back) / its.limit);
  });
}
