import { figuresOf, SHAPES, tokensAtMs, type BucketState, type Limit, type WindowFigures } from './bucket.js';
import type { Terms } from './plan.js';
import type { HeldWindow } from './windows.js';
import type { GrantExpiry } from './grant-expiries.js';

/** Headers round a moment up to whole seconds; what they promise has to hold then too. */
const ROUNDED_MS = 1_000;
const NONE: readonly GrantExpiry[] = [];

/**
 * What grants that are over by now brought back until they ended, on top of what their limit brings. Of windows that
 * trickle.
 */
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

/** A time during which the limit stays: what it is, and what came back of grants that ended before. */
interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
  readonly limit: number;
  readonly back: number;
}

/** The stretches from a settled bucket on; undefined of a window without a limit. */
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

/** The first moment from `fromMs` on at which something has come by a limit that stays in force for that second. */
function firstAt(stretches: readonly Stretch[], fromMs: number, comesAt: (stretch: Stretch) => number): number {
  for (const stretch of stretches) {
    const atMs = Math.max(fromMs, stretch.fromMs, comesAt(stretch));
    if (atMs + ROUNDED_MS <= stretch.toMs) return atMs;
  }
  return fromMs;
}

/** `figuresOf()` of a window of which grants may end; `window` is settled at `nowMs`. */
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
  // What a lower limit never holds comes when that one is whole.
  const nextAt = (its: Stretch): number =>
    next > its.limit ? wholeAt(its) : backAt(bucket.level - (its.limit - next) * parts, its);
  return {
    ...figures,
    granted,
    resetAtMs: firstAt(stretches, bucket.atMs, wholeAt),
    nextAtMs: firstAt(stretches, bucket.atMs, nextAt),
  };
}

/** What of a limit is granted, and until when it is so much; undefined where nothing is. */
function grantedOf(limit: Limit, expiries: readonly GrantExpiry[], nowMs: number): WindowFigures['granted'] {
  const toCome = expiries.filter(({ untilMs }) => untilMs > nowMs);
  const first = toCome.find(({ after }) => after !== limit);
  if (limit === 'unlimited' || first === undefined) return undefined;
  return { units: limit - Number(toCome.at(-1)!.after), untilMs: first.untilMs };
}

/** The first moment from `fromMs` on at which `tokens` can be had of a window that was settled at `nowMs`. */
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
