import type { Verdict } from './verdict.js';

/** Who asks. A token carries its id and secret, so neither needs a look-up. */
export type Subject =
  | { readonly kind: 'key'; readonly id: string; readonly secretHash: string }
  /** `address` is normal form: dotted IPv4, or the first four groups of an IPv6 (its /64). */
  | { readonly kind: 'address'; readonly address: string };

export interface AdmissionRequest {
  readonly subject: Subject;
  /**
   * Operation id of the contract, or `unmatched`; what the ledger counts under. Of a look it may be `EVERY_OPERATION`.
   */
  readonly operation: string;
  /** The scope the operation asks for; null when any valid key will do. */
  readonly scope: string | null;
  /**
   * Units that the contract asks for, unless the key's plan says otherwise; 0 only shows the figures and changes
   * nothing.
   */
  readonly cost: number;
  /** Tests only: stands in for the store's clock, ms. */
  readonly nowMs?: number;
}

/**
 * What became of a request whose caller was gone: its verdict, nothing, or nobody knows, for the connection died first.
 */
export type Late = Verdict | 'undone' | 'unknown';

/** The store did not answer in time, or answered that it cannot. Nothing may be assumed of the request. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  /** Of a batch of which only a part failed: what was decided (and charged) all the same, by place. */
  readonly decided: readonly (Verdict | undefined)[];
  /** Places of a batch about which nothing was decided and nothing is under way: somebody else may decide them. */
  readonly notSent: readonly number[];
  /** Of a batch, by place, what may have been decided: what is heard of it later. */
  readonly late: readonly (Promise<Late> | undefined)[];
  /** Places of a batch of failure reports that are in the ledger all the same. */
  readonly accepted: readonly number[];
  /** The call had no effect and will have none: it never left, or was refused as a whole. */
  readonly noEffect: boolean;

  constructor(
    message: string,
    options: ErrorOptions & {
      readonly decided?: readonly (Verdict | undefined)[];
      readonly notSent?: readonly number[];
      readonly late?: readonly (Promise<Late> | undefined)[];
      readonly accepted?: readonly number[];
      readonly noEffect?: boolean;
    } = {},
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
 * What decides: an engine of the store. Rejects with StoreUnavailable within the deadline when the store is
 * unavailable.
 */
export interface Decider {
  /** Decides a whole batch, in order, each request as one atomic step. Answers in the same order. */
  admit(requests: readonly AdmissionRequest[]): Promise<readonly Verdict[]>;
}
