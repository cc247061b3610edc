import { DAY_MS, MINUTE_MS } from '../../admission/bucket.js';
import { changesNothing, decide } from '../../admission/decide.js';
import { ANONYMOUS_PLAN, termsOf, type Plans, type Terms } from '../../admission/plan.js';
import type { StandingVerdict } from '../../admission/verdict.js';
import { costOf } from '../../admission/windows.js';
import { merged, split, copyOfState } from '../../store/state.js';
import { withGrants } from '../../store/records/grant.js';
import type { LoggedDecision } from './line.js';
import { doubtUntil, grantsIn, MAX_SUBJECTS, newSubject, ownLimits, type Doubt, type Subject } from './subjects.js';
import { LoggedWindows } from './windows.js';

/** How long a doubt about a day or ban matters at least: a ban lengthens another that follows within a day. */
const DOUBT_MS = 2 * DAY_MS;

/** A logged decision and its verdict under the new plans. */
export interface Rehearsed {
  readonly line: LoggedDecision;
  readonly verdict: StandingVerdict;
  /** Why a gateway might have decided otherwise; null if nothing suggests it. */
  readonly doubt: Doubt | null;
}

/** `no_plan`: the new plans lack its plan. `crowded`: more than MAX_SUBJECTS. `late`: too far out of order to sort. */
export type LeftOut = 'no_plan' | 'crowded' | 'late';

/**
 * Decides logged requests again under other plans, with the engines' own `decide`. Lines of one subject must arrive in
 * the order of their decisions. Grants, and bans set or lifted by an operator, are taken from the lines.
 */
export class Replay {
  readonly #plans: Plans;
  readonly #subjects = new Map<string, Subject>();
  readonly #terms = new Map<string, Terms | undefined>();
  readonly #windows = new LoggedWindows();

  constructor(plans: Plans) {
    this.#plans = plans;
  }

  /** Units that the log shows as spent, but not by any of its lines. */
  get missingUnits(): number {
    return this.#windows.missingUnits;
  }

  decide(line: LoggedDecision): Rehearsed | LeftOut {
    const terms = this.#termsOf(line);
    if (terms === undefined) return 'no_plan';
    const payer = this.#subject(line.payer);
    const key = line.keyId === null || line.keyId === line.payer ? payer : this.#subject(line.keyId);
    if (payer === undefined || key === undefined) return 'crowded';
    if (line.atMs < payer.lastMs) {
      doubtUntil(payer, 'late', endOfWindows(line.atMs));
      return 'late';
    }
    const isNew = key.lastMs === 0;
    payer.lastMs = key.lastMs = line.atMs;
    const gap = this.#windows.follow(payer, terms, line);
    if (isNew) key.firstMs = line.atMs;
    if (gap !== null) doubtUntil(payer, gap, endOfWindows(line.atMs));
    followBan(key, line, isNew);
    const grants = grantsIn(line);
    if (grants.length > 0) doubtUntil(payer, 'granted', endOfWindows(line.atMs));
    if (line.local) doubtUntil(payer, 'local', endOfWindows(line.atMs));
    const verdict = decideOn(payer, key, withGrants(terms, grants, line.atMs), line);
    const doubt = doubtAt(line.atMs, key) ?? doubtAt(line.atMs, payer) ?? doubtOfBan(key, line, verdict);
    // A different verdict may cause others.
    if (doubt !== null && verdict.outcome !== line.outcome)
      for (const subject of [key, payer]) doubtUntil(subject, doubt, line.atMs + DOUBT_MS);
    return { line, verdict, doubt };
  }

  #termsOf(line: LoggedDecision): Terms | undefined {
    const name = line.keyId === null ? ANONYMOUS_PLAN : line.plan;
    if (this.#plans.get(name)?.limits === 'custom') return termsOf(this.#plans, name, ownLimits(line));
    // A log does not show the credits of a prepaid balance.
    if (!this.#terms.has(name)) this.#terms.set(name, termsOf(this.#plans, name, null, 'unlimited'));
    return this.#terms.get(name);
  }

  #subject(id: string): Subject | undefined {
    let subject = this.#subjects.get(id);
    if (subject === undefined && this.#subjects.size < MAX_SUBJECTS) this.#subjects.set(id, (subject = newSubject()));
    return subject;
  }
}

function decideOn(payer: Subject, key: Subject, terms: Terms, line: LoggedDecision): StandingVerdict {
  const { atMs, keyId, operation, contractCost } = line;
  const cost = costOf(terms.operations, operation, contractCost);
  const whole = payer === key ? payer.state : merged(key.state, payer.state);
  const isPeek = changesNothing(whole, terms.ban, cost, atMs);
  const state = isPeek ? copyOfState(whole) : whole;
  const version = keyId === null ? null : { id: keyId, version: 0 };
  const verdict = decide(state, terms, version, true, operation, cost, atMs);
  if (!isPeek && payer !== key) split(state, key.state, payer.state);
  return verdict;
}

/**
 * Applies bans that an operator set or that began before the log, and lifts those that were lifted. Leaves bans that
 * begin in the log to the replay.
 */
function followBan(key: Subject, line: LoggedDecision, isNew: boolean): void {
  const { state } = key;
  const { atMs, ban } = line;
  if (ban === null) {
    if (atMs < key.bannedUntilMs) {
      state.bannedUntilMs = state.strikes = state.strikesSinceMs = state.banLevel = 0;
      doubtUntil(key, 'by_hand', atMs + DAY_MS);
    }
    key.bannedUntilMs = 0;
    return;
  }
  const untilMs = atMs + ban.ms;
  if (!ban.started && untilMs !== key.bannedUntilMs) {
    state.bannedUntilMs = untilMs;
    state.banLevel = ban.level;
    state.strikes = state.strikesSinceMs = 0;
    doubtUntil(key, isNew ? 'seen_midway' : 'by_hand', untilMs);
  }
  key.bannedUntilMs = untilMs;
}

/** A key's strikes and bans before its first line are unknown. */
function doubtOfBan({ firstMs }: Subject, { atMs, outcome }: LoggedDecision, verdict: StandingVerdict): Doubt | null {
  const isOfBan = outcome === 'banned' || verdict.outcome === 'banned';
  return isOfBan && atMs < firstMs + DOUBT_MS ? 'seen_midway' : null;
}

function doubtAt(atMs: number, subject: Subject): Doubt | null {
  return atMs < subject.doubtUntilMs ? subject.doubt : null;
}

/** Returns when minute and day have reset, so that earlier units no longer matter. Ignores the month. */
function endOfWindows(atMs: number): number {
  return Math.max(atMs + MINUTE_MS, atMs - (atMs % DAY_MS) + DAY_MS);
}
