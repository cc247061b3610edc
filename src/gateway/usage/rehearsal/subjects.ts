import type { Limit, Limits, Per } from '../../admission/bucket.js';
import { freshState, type SubjectState } from '../../admission/decide.js';
import type { Extra } from '../../store/records/grant.js';
import type { LoggedDecision } from './line.js';

/** Keys, customers and addresses that are followed: some 900 bytes each. */
export const MAX_SUBJECTS = 200_000;

/** A window as the log showed it last. */
export interface SeenWindow {
  readonly name: string;
  limit: number | null;
  /** When it is whole again, store ms. */
  endMs: number;
  /** Units, at least, of one that comes back as a whole. */
  spent: number;
}

/** One payer's buckets, or one key's strikes and ban, as the log lets know them. */
export interface Subject {
  readonly state: SubjectState;
  /** Few. */
  readonly seen: SeenWindow[];
  /** Its first line, as a key. */
  firstMs: number;
  /** Nothing of it may come that was decided before. */
  lastMs: number;
  /** By the log: until when it is banned; 0 where it is not. */
  bannedUntilMs: number;
  /** Why what comes out may differ from what was, until when; null where nothing speaks for it. */
  doubt: Doubt | null;
  doubtUntilMs: number;
}

/** Why a rehearsal may differ from what was decided. */
export type Doubt = 'seen_midway' | 'missing' | 'forgotten' | 'granted' | 'local' | 'late' | 'by_hand';

export function newSubject(): Subject {
  return { state: freshState(), seen: [], firstMs: 0, lastMs: 0, bannedUntilMs: 0, doubt: null, doubtUntilMs: 0 };
}

export function doubtUntil(subject: Subject, doubt: Doubt, untilMs: number): void {
  if (untilMs < subject.doubtUntilMs) return;
  subject.doubt = doubt;
  subject.doubtUntilMs = untilMs;
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
