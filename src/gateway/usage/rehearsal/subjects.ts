import type { Limit, Limits, Per } from '../../admission/bucket.js';
import { freshState, type SubjectState } from '../../admission/decide.js';
import type { Extra } from '../../store/records/grant.js';
import type { LoggedDecision } from './line.js';

/** Maximum number of keys, customers and addresses to follow; each takes about 900 bytes. */
export const MAX_SUBJECTS = 200_000;

/** A window as the log last showed it. */
export interface SeenWindow {
  readonly name: string;
  limit: number | null;
  /** When it resets, store ms. */
  endMs: number;
  /** Units spent, at least; kept only for interval refill. */
  spent: number;
}

/** One payer's buckets, or one key's strikes and ban, as far as the log shows them. */
export interface Subject {
  readonly state: SubjectState;
  readonly seen: SeenWindow[];
  /** When its first line as a key was decided, store ms. */
  firstMs: number;
  /** When its latest line was decided, store ms; 0 before the first. Earlier lines are refused. */
  lastMs: number;
  /** Until when it is banned according to the log, store ms; 0 if it is not. */
  bannedUntilMs: number;
  /** Why verdicts may differ for other reasons than the plans, until `doubtUntilMs`; null if there is no doubt. */
  doubt: Doubt | null;
  doubtUntilMs: number;
}

/** Why a verdict may differ from the log for another reason than the plans. */
export type Doubt = 'seen_midway' | 'missing' | 'forgotten' | 'granted' | 'local' | 'late' | 'by_hand';

export function newSubject(): Subject {
  return { state: freshState(), seen: [], firstMs: 0, lastMs: 0, bannedUntilMs: 0, doubt: null, doubtUntilMs: 0 };
}

export function doubtUntil(subject: Subject, doubt: Doubt, untilMs: number): void {
  if (untilMs < subject.doubtUntilMs) return;
  subject.doubt = doubt;
  subject.doubtUntilMs = untilMs;
}

/** Returns the custom limits of a key or customer, without grants. */
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
