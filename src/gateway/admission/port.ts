import type { Verdict } from './verdict.js';

/** The caller. A key contains its ID and secret, so neither needs a lookup. */
export type Subject =
  | { readonly kind: 'key'; readonly id: string; readonly secretHash: string }
  /** `address` is in normal form: dotted IPv4, or the first four groups of an IPv6 (its /64). */
  | { readonly kind: 'address'; readonly address: string };

export interface AdmissionRequest {
  readonly subject: Subject;
  /** The operation's name in the ledger: its ID in the contract, or `unmatched`. A peek may use `EVERY_OPERATION`. */
  readonly operation: string;
  /** The scope that the operation requires; null if any valid key may use it. */
  readonly scope: string | null;
  /** Cost by the contract, which the key's plan may override; 0 only reads the figures and changes nothing. */
  readonly cost: number;
  /** Tests only: replaces the store's clock, ms. */
  readonly nowMs?: number;
}

/** The outcome of an abandoned request: its verdict, no effect, or unknown because the connection broke first. */
export type Late = Verdict | 'undone' | 'unknown';

/** The store did not respond in time, or reported that it cannot decide. Assume nothing about the request. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  /** If only part of a batch failed: the verdicts that were reached (and charged), by index. */
  readonly decided: readonly (Verdict | undefined)[];
  /** Indexes of a batch that were not decided and are not in flight: they may be decided elsewhere. */
  readonly notSent: readonly number[];
  /** By index of a batch: resolves later to the outcome of a request that may have been decided. */
  readonly late: readonly (Promise<Late> | undefined)[];
  /** Indexes of the failure reports that are in the ledger. */
  readonly accepted: readonly number[];
  /** The call had no effect and will have none: it was not sent, or was refused as a whole. */
  readonly noEffect: boolean;

  constructor(
    message: string,
    options: ErrorOptions &
      Partial<Pick<StoreUnavailable, 'decided' | 'notSent' | 'late' | 'accepted' | 'noEffect'>> = {},
  ) {
    super(message, options);
    this.decided = options.decided ?? [];
    this.notSent = options.notSent ?? [];
    this.late = options.late ?? [];
    this.accepted = options.accepted ?? [];
    this.noEffect = options.noEffect ?? false;
  }
}

/**
 * Decides requests: an engine of the store. Rejects with StoreUnavailable within the deadline if the store is
 * unavailable.
 */
export interface Decider {
  /** Decides a batch in order, each request as one atomic step. Returns verdicts in the same order. */
  admit(requests: readonly AdmissionRequest[]): Promise<readonly Verdict[]>;
}
