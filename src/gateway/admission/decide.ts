import { figuresOf, holds, settle, SHAPES, spend, tokensAtMs, type WindowFigures } from './bucket.js';
import { figuresForeseen, heldFrom, settlePast } from './foreseen.js';
import { CONCURRENCY, CROWDED_RETRY_MS } from './leases.js';
import { BAN_MEMORY_MS, type BanRule, type Terms } from './plan.js';
import type { StandingVerdict } from './verdict.js';
import { closeWindows, heldBy, settleWindow, type Buckets, type HeldWindow } from './windows.js';

/** The stored state of a subject. Times are store ms; 0 means never. */
export interface SubjectState extends Buckets {
  strikes: number;
  strikesSinceMs: number;
  bannedUntilMs: number;
  banLevel: number;
}

export function freshState(): SubjectState {
  return {
    minute: { level: 0, atMs: 0 },
    day: { level: 0, atMs: 0 },
    month: { level: 0, atMs: 0 },
    strikes: 0,
    strikesSinceMs: 0,
    bannedUntilMs: 0,
    banLevel: 0,
    operationWindows: null,
  };
}

/** `ban_started`: this refusal started the ban. */
export type Ruling = 'admitted' | 'limited' | 'crowded' | 'banned' | 'ban_started';

/** The key and the version of its record; null for an address. */
type KeyVersion = { readonly id: string; readonly version: number } | null;

/**
 * Decides on plain data. Changes `state` in place; the caller stores it in the same transaction, unless
 * `changesNothing`.
 * @param cost units charged to each window, by the plan (`costOf`)
 * @param inFlight requests of the subject that have not ended
 */
export function decide(
  state: SubjectState,
  terms: Terms,
  key: KeyVersion,
  inScope: boolean,
  operation: string,
  cost: number,
  nowMs: number,
  inFlight = 0,
): StandingVerdict {
  const windows = heldBy(state, terms, operation);
  const ruling = rule(state, terms, windows, cost, nowMs, inFlight);
  if (terms.operations !== undefined) closeWindows(state, nowMs);
  return verdictOf(state, terms, windows, ruling, key, inScope, cost, nowMs);
}

/** Returns whether `state` need not be stored: the request costs nothing, or a ban is in force and keeps its end. */
export function changesNothing(state: SubjectState, ban: BanRule, cost: number, nowMs: number): boolean {
  return cost === 0 || (nowMs < state.bannedUntilMs && banEndMs(state, ban, nowMs) === state.bannedUntilMs);
}

/** Settles and charges. The Redis script does the same line by line: change both together. */
function rule(
  state: SubjectState,
  terms: Terms,
  windows: readonly HeldWindow[],
  cost: number,
  nowMs: number,
  inFlight: number,
): Ruling {
  if (terms.expiries !== undefined) settlePast(state.minute, state.day, terms, nowMs);
  settle(state.month, SHAPES.month, 'unlimited', 'interval', nowMs);
  for (const window of windows) settleWindow(window, nowMs);
  if (nowMs < state.bannedUntilMs) {
    state.bannedUntilMs = banEndMs(state, terms.ban, nowMs);
    return 'banned';
  }
  const tokens = tokensRequested(cost);
  if (allHold(windows, tokens)) {
    if (cost > 0 && terms.concurrency !== undefined && inFlight >= terms.concurrency) return 'crowded';
    if (cost > 0) {
      spend(state.month, SHAPES.month, cost);
      for (const { per, bucket } of windows) if (bucket !== state.month) spend(bucket, SHAPES[per], cost);
    }
    return 'admitted';
  }
  const isStrike = cost > 0 && !exceeds(windows, tokens);
  return isStrike && strike(state, terms.ban, nowMs) ? 'ban_started' : 'limited';
}

/** Whether waiting does not help: `tokens` exceed the limit of a window, or what is left of a balance. */
function exceeds(windows: readonly HeldWindow[], tokens: number): boolean {
  return windows.some(
    ({ per, limit, bucket }) =>
      limit !== 'unlimited' && (tokens > limit || (per === 'balance' && !holds(bucket, SHAPES[per], limit, tokens))),
  );
}

/** A peek (cost 0) gets the verdict of the cheapest request. */
function tokensRequested(cost: number): number {
  return cost === 0 ? 1 : cost;
}

function allHold(windows: readonly HeldWindow[], tokens: number): boolean {
  for (const { per, bucket, limit } of windows) if (!holds(bucket, SHAPES[per], limit, tokens)) return false;
  return true;
}

/** Builds the verdict of a ruling from the state it left. */
export function verdictOf(
  state: SubjectState,
  terms: Terms,
  windows: readonly HeldWindow[],
  ruling: Ruling,
  key: KeyVersion,
  inScope: boolean,
  cost: number,
  nowMs: number,
): StandingVerdict {
  const { plan, expiries, concurrency } = terms;
  const figures = windows.map((window) => figuresOfWindow(window, expiries, nowMs));
  const keyId = key === null ? null : key.id;
  const recordVersion = key === null ? null : key.version;
  if (ruling === 'admitted' && concurrency === undefined)
    return { outcome: 'admitted', keyId, recordVersion, plan, windows: figures, cost, atMs: nowMs, inScope };
  const inFlight = concurrency === undefined ? null : { concurrency };
  const standing = { keyId, recordVersion, plan, windows: figures, cost, atMs: nowMs, inScope, ...inFlight };
  if (ruling === 'admitted') return { outcome: 'admitted', ...standing };
  if (ruling === 'crowded') {
    const retryAtMs = nowMs + CROWDED_RETRY_MS;
    return { outcome: 'limited', ...standing, violated: CONCURRENCY, retryAtMs, exceeds: false };
  }
  // A refusal charges nothing, so the buckets still show the reason.
  const tokens = tokensRequested(cost);
  const delay =
    expiries === undefined
      ? null
      : foresee(windows, expiries, tokens, nowMs, ruling === 'limited' ? nowMs : state.bannedUntilMs);
  const last = lastViolated(windows, figures, tokens, delay);
  if (ruling === 'limited') {
    const { name: violated, retryAtMs } = last;
    return { outcome: 'limited', ...standing, violated, retryAtMs, exceeds: exceeds(windows, tokens) };
  }
  const bannedUntilMs = state.bannedUntilMs;
  const started = ruling === 'ban_started';
  return {
    outcome: 'banned',
    ...standing,
    bannedUntilMs,
    level: state.banLevel,
    started,
    retryAtMs: Math.max(bannedUntilMs, last.retryAtMs),
  };
}

function figuresOfWindow(window: HeldWindow, expiries: Terms['expiries'], nowMs: number): WindowFigures {
  const { name, per, limit, refill, bucket } = window;
  if (expiries !== undefined && name === per) return figuresForeseen(window, expiries[per], nowMs);
  return figuresOf(bucket, SHAPES[per], limit, refill, name);
}

/** Counts a refusal; returns true if it starts a ban. */
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
 * The end of the ban in force. An automatic ban ends at most one length from now, because the store's clock may have
 * stepped back since. A ban set by an operator has no strikes and keeps its end.
 */
function banEndMs(state: SubjectState, rule: BanRule, nowMs: number): number {
  if (state.strikesSinceMs === 0) return state.bannedUntilMs;
  return Math.min(state.bannedUntilMs, nowMs + banLengthMs(rule, state.banLevel));
}

/**
 * Returns the base times the factor for each level above 1, up to the cap, in whole ms. Multiplies step by step: pow()
 * of a fraction differs between JavaScript and Lua.
 */
export function banLengthMs(rule: BanRule, level: number): number {
  let lengthMs = rule.forMs;
  for (let step = 1; step < level && lengthMs < rule.capMs; step += 1) lengthMs = Math.floor(lengthMs * rule.factor);
  return Math.min(lengthMs, rule.capMs);
}

/** The reason for a refusal. */
interface Violated {
  /** The window that resets last among those that lack `tokens`. */
  name: string;
  resetAtMs: number;
  /** When all windows have enough, store ms; 0 if they do now. */
  retryAtMs: number;
}

function lastViolated(
  windows: readonly HeldWindow[],
  figures: readonly WindowFigures[],
  tokens: number,
  delay: Delay | null,
): Violated {
  const last: Violated = { name: 'day', resetAtMs: 0, retryAtMs: delay?.retryAtMs ?? 0 };
  for (const [index, { name, per, limit, refill, bucket }] of windows.entries()) {
    const shape = SHAPES[per];
    if (limit !== 'unlimited' && !holds(bucket, shape, limit, tokens)) {
      if (delay === null) last.retryAtMs = Math.max(last.retryAtMs, tokensAtMs(bucket, shape, limit, refill, tokens));
    } else if (delay === null || !delay.indices.has(index)) continue;
    const { resetAtMs } = figures[index]!;
    if (resetAtMs >= last.resetAtMs) [last.name, last.resetAtMs] = [name, resetAtMs];
  }
  return last;
}

/** When all windows have enough if grants end meanwhile, and the indexes of the windows that delay it. */
interface Delay {
  readonly retryAtMs: number;
  readonly indices: ReadonlySet<number>;
}

/** Repeats until no window moves the time: one that had enough may lack tokens once a grant has ended. */
function foresee(
  windows: readonly HeldWindow[],
  expiries: NonNullable<Terms['expiries']>,
  tokens: number,
  nowMs: number,
  fromMs: number,
): Delay {
  const indices = new Set<number>();
  let retryAtMs = fromMs;
  for (let before = -1; before !== retryAtMs;) {
    before = retryAtMs;
    for (const [index, window] of windows.entries()) {
      const its = window.name === window.per ? expiries[window.per] : undefined;
      const heldAtMs = heldFrom(window, its, tokens, nowMs, retryAtMs);
      if (heldAtMs > retryAtMs) indices.add(index);
      retryAtMs = heldAtMs;
    }
  }
  return { retryAtMs, indices };
}
