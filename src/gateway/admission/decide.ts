import { figuresOf, holds, nextTokenAtMs, settle, SHAPES, spend } from './bucket.js';
import type { BucketState, WindowFigures, WindowName } from './bucket.js';
import { BAN_MEMORY_MS } from './plan.js';
import type { BanRule, Terms } from './plan.js';
import type { StandingVerdict } from './verdict.js';

/** What a store remembers of one subject. Times are the store's, in ms; 0 means never. */
export interface SubjectState {
  readonly minute: BucketState;
  readonly day: BucketState;
  strikes: number;
  strikesSinceMs: number;
  bannedUntilMs: number;
  banLevel: number;
}

export function freshState(): SubjectState {
  return { minute: { level: 0, atMs: 0 }, day: { level: 0, atMs: 0 }, strikes: 0, strikesSinceMs: 0, bannedUntilMs: 0, banLevel: 0 };
}

/**
 * The decision, on plain data. Changes `state` in place unless cost is 0; the caller writes it back
 * in the same transaction. The Lua of the redis engine is this, line by line, and the property test
 * drives both in lock step.
 */
export function decide(state: SubjectState, terms: Terms, keyId: string | null, inScope: boolean, cost: 0 | 1, nowMs: number): StandingVerdict {
  const { limits, refill } = terms;
  settle(state.minute, SHAPES.minute, limits.minute, refill, nowMs);
  settle(state.day, SHAPES.day, limits.day, refill, nowMs);
  const minuteHolds = holds(state.minute, SHAPES.minute, limits.minute);
  const dayHolds = holds(state.day, SHAPES.day, limits.day);
  const banned = nowMs < state.bannedUntilMs;
  let started = false;
  if (!banned && cost === 1) {
    if (minuteHolds && dayHolds) {
      spend(state.minute, SHAPES.minute);
      spend(state.day, SHAPES.day);
    } else {
      started = strike(state, terms.ban, nowMs);
    }
  }
  const minute = figuresOf(state.minute, SHAPES.minute, limits.minute, refill);
  const day = figuresOf(state.day, SHAPES.day, limits.day, refill);
  const standing = { keyId, plan: terms.plan, minute, day, atMs: nowMs };
  if (minuteHolds && dayHolds && !banned) return { outcome: 'admitted', ...standing, inScope };
  const retryAtMs = retryOf(state, terms, minuteHolds, dayHolds);
  if (banned || started) {
    const bannedUntilMs = state.bannedUntilMs;
    return { outcome: 'banned', ...standing, bannedUntilMs, level: state.banLevel, started, retryAtMs: Math.max(bannedUntilMs, retryAtMs) };
  }
  return { outcome: 'limited', ...standing, violated: violatedOf(minute, day, minuteHolds, dayHolds), retryAtMs };
}

/** Counts one refusal; true when it starts a ban. */
function strike(state: SubjectState, rule: BanRule, nowMs: number): boolean {
  if (state.strikes === 0 || nowMs - state.strikesSinceMs >= rule.withinMs) {
    state.strikes = 0;
    state.strikesSinceMs = nowMs;
  }
  state.strikes += 1;
  if (state.strikes < rule.after) return false;
  const again = state.banLevel > 0 && nowMs - state.bannedUntilMs < BAN_MEMORY_MS;
  state.banLevel = again ? state.banLevel + 1 : 1;
  state.bannedUntilMs = nowMs + banLengthMs(rule, state.banLevel);
  state.strikes = 0;
  return true;
}

/**
 * The base, times the factor for each level above the first, up to the cap; whole ms at each step.
 * Multiplied step by step, because pow() of a fraction differs between JavaScript and Lua.
 */
export function banLengthMs(rule: BanRule, level: number): number {
  let lengthMs = rule.forMs;
  for (let step = 1; step < level && lengthMs < rule.capMs; step += 1) lengthMs = Math.floor(lengthMs * rule.factor);
  return Math.min(lengthMs, rule.capMs);
}

function retryOf(state: SubjectState, terms: Terms, minuteHolds: boolean, dayHolds: boolean): number {
  const { limits, refill } = terms;
  const minuteMs = minuteHolds || limits.minute === 'unlimited' ? 0 : nextTokenAtMs(state.minute, SHAPES.minute, limits.minute, refill);
  const dayMs = dayHolds || limits.day === 'unlimited' ? 0 : nextTokenAtMs(state.day, SHAPES.day, limits.day, refill);
  return Math.max(minuteMs, dayMs);
}

function violatedOf(minute: WindowFigures, day: WindowFigures, minuteHolds: boolean, dayHolds: boolean): WindowName {
  if (minuteHolds) return 'day';
  if (dayHolds) return 'minute';
  return minute.resetAtMs > day.resetAtMs ? 'minute' : 'day';
}
