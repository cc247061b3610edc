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
  return {
    minute: { level: 0, atMs: 0 },
    day: { level: 0, atMs: 0 },
    strikes: 0,
    strikesSinceMs: 0,
    bannedUntilMs: 0,
    banLevel: 0,
  };
}

/** What was ruled; `ban_started`: this very refusal began the ban. */
export type Ruling = 'admitted' | 'limited' | 'banned' | 'ban_started';

/** The key that is decided on, with the version of its record; null for an address. */
type KeyVersion = { readonly id: string; readonly version: number } | null;

/**
 * The decision, on plain data. Changes `state` in place; the caller writes it back in the same
 * transaction, unless the decision `changesNothing`: then settling it was for the figures alone.
 */
export function decide(
  state: SubjectState,
  terms: Terms,
  key: KeyVersion,
  inScope: boolean,
  cost: 0 | 1,
  nowMs: number,
): StandingVerdict {
  const ruling = rule(state, terms, cost, nowMs);
  return verdictOf(state, terms, ruling, key, inScope, nowMs);
}

/** Whether a decision leaves `state` as it is: nothing is asked for, or a ban is in force whose end stays. */
export function changesNothing(state: SubjectState, ban: BanRule, cost: 0 | 1, nowMs: number): boolean {
  return cost === 0 || (nowMs < state.bannedUntilMs && banEndMs(state, ban, nowMs) === state.bannedUntilMs);
}

/**
 * Settles and charges. The Lua of the redis engine is this, line by line, and the property test
 * drives both in lock step.
 */
function rule(state: SubjectState, terms: Terms, cost: 0 | 1, nowMs: number): Ruling {
  const { limits, refill } = terms;
  settle(state.minute, SHAPES.minute, limits.minute, refill, nowMs);
  settle(state.day, SHAPES.day, limits.day, refill, nowMs);
  if (nowMs < state.bannedUntilMs) {
    state.bannedUntilMs = banEndMs(state, terms.ban, nowMs);
    return 'banned';
  }
  if (holds(state.minute, SHAPES.minute, limits.minute) && holds(state.day, SHAPES.day, limits.day)) {
    if (cost === 1) {
      spend(state.minute, SHAPES.minute);
      spend(state.day, SHAPES.day);
    }
    return 'admitted';
  }
  return cost === 1 && strike(state, terms.ban, nowMs) ? 'ban_started' : 'limited';
}

/** What a ruling means for the one who asked, read off the state it left behind. */
export function verdictOf(
  state: SubjectState,
  terms: Terms,
  ruling: Ruling,
  key: KeyVersion,
  inScope: boolean,
  nowMs: number,
): StandingVerdict {
  const { limits, refill } = terms;
  const minute = figuresOf(state.minute, SHAPES.minute, limits.minute, refill);
  const day = figuresOf(state.day, SHAPES.day, limits.day, refill);
  const standing = {
    keyId: key?.id ?? null,
    recordVersion: key?.version ?? null,
    plan: terms.plan,
    minute,
    day,
    atMs: nowMs,
  };
  if (ruling === 'admitted') return { outcome: 'admitted', ...standing, inScope };
  // A refusal took nothing, so the buckets still show what it was about.
  const minuteHolds = holds(state.minute, SHAPES.minute, limits.minute);
  const dayHolds = holds(state.day, SHAPES.day, limits.day);
  const retryAtMs = retryOf(state, terms, minuteHolds, dayHolds);
  if (ruling === 'limited')
    return { outcome: 'limited', ...standing, violated: violatedOf(minute, day, minuteHolds, dayHolds), retryAtMs };
  const bannedUntilMs = state.bannedUntilMs;
  const started = ruling === 'ban_started';
  return {
    outcome: 'banned',
    ...standing,
    bannedUntilMs,
    level: state.banLevel,
    started,
    retryAtMs: Math.max(bannedUntilMs, retryAtMs),
  };
}

/** Counts one refusal; true when it starts a ban. */
function strike(state: SubjectState, rule: BanRule, nowMs: number): boolean {
  if (state.strikes === 0 || nowMs - state.strikesSinceMs >= rule.withinMs) {
    state.strikes = 0;
    state.strikesSinceMs = nowMs;
  }
  if (state.strikesSinceMs > nowMs) state.strikesSinceMs = nowMs;
  state.strikes += 1;
  if (state.strikes < rule.after) return false;
  const again = state.banLevel > 0 && nowMs - state.bannedUntilMs < BAN_MEMORY_MS;
  state.banLevel = again ? state.banLevel + 1 : 1;
  state.bannedUntilMs = nowMs + banLengthMs(rule, state.banLevel);
  state.strikes = 0;
  return true;
}

/**
 * When the ban in force ends. One that began by strikes is over one length from now at the latest, for the
 * store's clock may have stepped back since. One that operators set has no strikes, and keeps its end.
 */
function banEndMs(state: SubjectState, rule: BanRule, nowMs: number): number {
  if (state.strikesSinceMs === 0) return state.bannedUntilMs;
  return Math.min(state.bannedUntilMs, nowMs + banLengthMs(rule, state.banLevel));
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
  const minuteMs =
    minuteHolds || limits.minute === 'unlimited'
      ? 0
      : nextTokenAtMs(state.minute, SHAPES.minute, limits.minute, refill);
  const dayMs = dayHolds || limits.day === 'unlimited' ? 0 : nextTokenAtMs(state.day, SHAPES.day, limits.day, refill);
  return Math.max(minuteMs, dayMs);
}

function violatedOf(minute: WindowFigures, day: WindowFigures, minuteHolds: boolean, dayHolds: boolean): WindowName {
  if (minuteHolds) return 'day';
  if (dayHolds) return 'minute';
  return minute.resetAtMs > day.resetAtMs ? 'minute' : 'day';
}
