import type { WindowFigures } from './bucket.js';

/** Where a subject stands after the decision. `atMs` is the store's clock at that moment. */
export interface Standing {
  /** The key's id; null for an address. */
  readonly keyId: string | null;
  /** Version of the key's record that the decision used; null for an address. */
  readonly recordVersion: number | null;
  readonly plan: string;
  /** All that hold for the request: the minute, the day, then the others. */
  readonly windows: readonly WindowFigures[];
  /** Units that the request takes of each window, by plan and contract; 0 of one that only shows the figures. */
  readonly cost: number;
  readonly atMs: number;
  /** False: the key is valid, and lacks the operation's scope. It is charged all the same. */
  readonly inScope: boolean;
  /** Decided by this gateway alone, from its share of each limit; left out otherwise. */
  readonly local?: true;
}

/** What the request costs was taken from all its windows and counted, or it costs nothing. */
export interface AdmittedVerdict extends Standing {
  readonly outcome: 'admitted';
}

/** A window does not hold what the request costs; nothing was taken. */
export interface LimitedVerdict extends Standing {
  readonly outcome: 'limited';
  /** The name of the violated window that resets last. */
  readonly violated: string;
  /** The first moment a retry can succeed, store ms. */
  readonly retryAtMs: number;
  /** The request costs more than a window holds when it is whole: no retry succeeds, and it was no strike. */
  readonly exceeds: boolean;
}

/** A ban is in force, or began with this very refusal; nothing was taken. */
export interface BannedVerdict extends Standing {
  readonly outcome: 'banned';
  readonly bannedUntilMs: number;
  /** 1 for a first ban, 2 for the next within a day of its end, … */
  readonly level: number;
  /** True when this refusal began the ban. */
  readonly started: boolean;
  /** The first moment a retry can succeed: the end of the ban, or later when a bucket is empty longer. */
  readonly retryAtMs: number;
}

/**
 * `closed`: the key's customer is. `unseen`: while Redis is unavailable, of a key, or a secret of it, that is not known
 * here; never leaves the admission.
 */
export type UnknownReason = 'unknown' | 'disabled' | 'expired' | 'revoked' | 'closed' | 'no_plan' | 'unseen';

/** The key is not valid; nothing was taken or counted. Ask about the caller's address next. */
export interface UnknownKeyVerdict {
  readonly outcome: 'unknown_key';
  /** For the log, never for the client. */
  readonly reason: UnknownReason;
}

export type Verdict = AdmittedVerdict | LimitedVerdict | BannedVerdict | UnknownKeyVerdict;
export type StandingVerdict = Exclude<Verdict, UnknownKeyVerdict>;
