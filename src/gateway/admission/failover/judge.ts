import type { KeyJudge, GoodKey } from '../engines/embedded/judge.js';
import { unfitness } from '../engines/embedded/judge.js';
import { termsOf } from '../plan.js';
import type { Plans, Terms } from '../plan.js';
import type { UnknownReason } from '../verdict.js';
import type { Copies, Copy } from './copies.js';
import { shareOf, sharesOf } from './shares.js';

/** Judges keys by their copies, each with this gateway's share of its limits. */
export class CopyJudge implements KeyJudge {
  readonly #copies: Copies;
  #whole: Plans;
  #shares: Plans;
  #gateways: number;

  constructor(copies: Copies, plans: Plans, gateways: number) {
    this.#copies = copies;
    this.#whole = plans;
    this.#gateways = gateways;
    this.#shares = sharesOf(plans, gateways);
  }

  /** What is granted here: shares. Set to the whole plans. */
  get plans(): Plans {
    return this.#shares;
  }

  set plans(plans: Plans) {
    this.#whole = plans;
    this.#shares = sharesOf(plans, this.#gateways);
  }

  get whole(): Plans {
    return this.#whole;
  }

  get gateways(): number {
    return this.#gateways;
  }

  set gateways(gateways: number) {
    if (gateways === this.#gateways) return;
    this.#gateways = gateways;
    this.#shares = sharesOf(this.#whole, gateways);
  }

  /**
   * `unseen` also of a secret that the copy doesn't have, for it may be a newer one; and where the share is
   * nothing: that such a key is good and within its limit can't be decided here.
   */
  key(id: string, secretHash: string, nowMs: number): GoodKey | UnknownReason {
    const copy = this.#copies.read(id);
    if (copy === undefined) return 'unseen';
    const reason = unfitness(copy.record, secretHash, nowMs);
    if (reason !== undefined) return reason === 'unknown' ? 'unseen' : reason;
    const terms = this.shareOf(copy);
    if (terms === undefined) return 'no_plan';
    return terms.limits.minute === 0 || terms.limits.day === 0 ? 'unseen' : { record: copy.record, terms };
  }

  terms(id: string): Terms | undefined {
    const copy = this.#copies.read(id);
    return copy && this.shareOf(copy);
  }

  /** What binds the key here. */
  shareOf({ record }: Copy): Terms | undefined {
    return termsOf(this.#shares, record.plan, record.limits === null ? null : shareOf(record.limits, this.#gateways));
  }
}
