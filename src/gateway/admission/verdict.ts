import type { WindowFigures } from './bucket.js';

/** A subject's figures after the decision. `atMs` is the store's clock at that moment. */
export interface Standing {
  /** ID of the key; null for an address. */
  readonly keyId: string | null;
  /** Version of the key's record that was used; null for an address. */
  readonly recordVersion: number | null;
  readonly plan: string;
  /** All windows of the request: minute, day, then the others. */
  readonly windows: readonly WindowFigures[];
  /** Units charged to each window, by plan and contract; 0 if only the figures were read. */
  readonly cost: number;
  readonly atMs: number;
  /** False: the key is valid but lacks the operation's scope. It is charged anyway. */
  readonly inScope: boolean;
  /** Requests that may be in flight at a time; absent if any number may. */
  readonly concurrency?: number;
  /** True if this gateway decided in outage mode, with its share of each limit; otherwise absent. */
  readonly local?: true;
}

/** The cost, if any, was charged to all windows and counted. */
export interface AdmittedVerdict extends Standing {
  readonly outcome: 'admitted';
  /** Id of the lease to end with the request; absent if the plan has no `concurrency`. */
  readonly lease?: number;
}

/** A window has less left than the request costs; nothing was charged. */
export interface LimitedVerdict extends Standing {
  readonly outcome: 'limited';
  /** Name of the violated window that resets last, or `concurrency`. */
  readonly violated: string;
  /** The earliest time a retry can succeed, store ms. */
  readonly retryAtMs: number;
  /**
   * The request costs more than the limit of a window, or than what is left of a balance: no retry can succeed, and it
   * does not count as a strike.
   */
  readonly exceeds: boolean;
}

/** A ban is in force, or started with this refusal; nothing was charged. */
export interface BannedVerdict extends Standing {
  readonly outcome: 'banned';
  readonly bannedUntilMs: number;
  /** 1 for a first ban, 2 for the next within a day of its end, … */
  readonly level: number;
  /** True if this refusal started the ban. */
  readonly started: boolean;
  /** The earliest time a retry can succeed: the end of the ban, or later if a bucket is empty for longer. */
  readonly retryAtMs: number;
}

/**
 * `closed`: the key's customer is closed. `unseen`: while Redis is unavailable, this gateway does not know the key or
 * its secret; used only inside admission.
 */
export type UnknownReason = 'unknown' | 'disabled' | 'expired' | 'revoked' | 'closed' | 'no_plan' | 'unseen';

/** The key is not valid; nothing was charged or counted. Ask about the caller's address next. */
export interface UnknownKeyVerdict {
  readonly outcome: 'unknown_key';
  /** For the log, never for the client. */
  readonly reason: UnknownReason;
}

export type Verdict = AdmittedVerdict | LimitedVerdict | BannedVerdict | UnknownKeyVerdict;
export type StandingVerdict = Exclude<Verdict, UnknownKeyVerdict>;
