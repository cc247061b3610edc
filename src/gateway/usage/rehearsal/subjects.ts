import { SHAPES, type Limit, type Limits, type Per } from '../../admission/bucket.js';
import { freshState, type SubjectState } from '../../admission/decide.js';
import type { Terms } from '../../admission/plan.js';
import { refillOf } from '../../admission/windows.js';
import type { Extra } from '../../store/records/grant.js';
import type { LoggedDecision, LoggedWindow } from './line.js';

/** Keys, customers and addresses that are followed: some 600 bytes each. */
export const MAX_SUBJECTS = 200_000;

/** One payer's buckets, or one key's strikes and ban, as the log lets know them. */
export interface Subject {
  readonly state: SubjectState;
  /** Windows of which it is known what was spent before; few. */
  readonly known: string[];
  /** Nothing of it may come that was decided before. */
  lastMs: number;
  /** By the log: until when it is banned; 0 where it is not. */
  bannedUntilMs: number;
  /** Why what comes out may differ from what was, until when; null where nothing speaks for it. */
  doubt: Doubt | null;
  doubtUntilMs: number;
}

/** Why a rehearsal may differ from what was decided. */
export type Doubt = 'seen_midway' | 'granted' | 'local' | 'late' | 'by_hand';

export function newSubject(): Subject {
  return { state: freshState(), known: [], lastMs: 0, bannedUntilMs: 0, doubt: null, doubtUntilMs: 0 };
}

export function doubtUntil(subject: Subject, doubt: Doubt, untilMs: number): void {
  if (untilMs < subject.doubtUntilMs) return;
  subject.doubt = doubt;
  subject.doubtUntilMs = untilMs;
}

/** Takes over what was spent before the first line that shows a window. True where something was. */
export function meet(subject: Subject, terms: Terms, line: LoggedDecision): boolean {
  let isSpent = false;
  for (const name in line.windows) {
    if (subject.known.includes(name)) continue;
    subject.known.push(name);
    if (spentBefore(subject.state, name, line.windows[name]!, terms, line)) isSpent = true;
  }
  return isSpent;
}

function spentBefore(
  state: SubjectState,
  name: string,
  [limit, remaining, resetMs]: LoggedWindow,
  { refill }: Terms,
  { atMs, outcome, cost }: LoggedDecision,
): boolean {
  const per = perOf(name);
  if (limit === null || remaining === null) return false;
  const { parts, perMs } = SHAPES[per];
  const trickles = refillOf(per, refill) === 'greedy';
  const after = trickles ? Math.min(resetMs * limit, limit * parts) : (limit - remaining) * parts;
  const level = Math.max(0, after - (outcome === 'admitted' ? cost * parts : 0));
  if (level === 0) return false;
  const bucket = bucketIn(state, name);
  bucket.level = level;
  bucket.atMs = per === 'minute' && !trickles ? atMs + resetMs - perMs : atMs;
  return true;
}

function bucketIn(state: SubjectState, name: string): { level: number; atMs: number } {
  if (name === 'minute' || name === 'day' || name === 'month') return state[name];
  const windows = (state.operationWindows ??= new Map<string, { level: number; atMs: number }>());
  const bucket = windows.get(name) ?? { level: 0, atMs: 0 };
  windows.set(name, bucket);
  return bucket;
}

function perOf(name: string): Per {
  return name.endsWith('month') ? 'month' : name.endsWith('day') ? 'day' : 'minute';
}

/** The limits of a key or customer that had its own, without what was granted. */
export function ownLimits({ windows }: LoggedDecision): Limits {
  const of = (name: Per): Limit | undefined => {
    const window = windows[name];
    return window === undefined ? undefined : window[0] === null ? 'unlimited' : window[0] - (window[3] ?? 0);
  };
  const month = of('month');
  return {
    minute: of('minute') ?? 'unlimited',
    day: of('day') ?? 'unlimited',
    ...(month === undefined ? {} : { month }),
  };
}

const PERS = ['minute', 'day', 'month'] as const;
const NO_GRANTS: readonly Extra[] = [];

export function grantsIn({ windows, atMs }: LoggedDecision): readonly Extra[] {
  let grants = NO_GRANTS;
  for (const window of PERS) {
    const [, , , units, ms] = windows[window] ?? [];
    if (units !== undefined && ms !== undefined) grants = [...grants, { window, units, untilMs: atMs + ms }];
  }
  return grants;
}
