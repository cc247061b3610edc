import { validKeyOf, whyInvalid, type KeyVerifier, type ValidKey } from '../embedded/records/verifier.js';
import { customerOf } from '../records/customer-id.js';
import { withGrants } from '../records/grant.js';
import { termsOf, type Plans, type Terms } from '../../admission/plan.js';
import type { AdmissionRequest } from '../../admission/port.js';
import type { UnknownReason } from '../../admission/verdict.js';
import { costOf, windowsOf } from '../../admission/windows.js';
import type { KeyCache } from './key-cache.js';
import { shareOfTerms, sharesOf } from './shares.js';

/** Admits keys by their cached records, each with this gateway's share of its limits. */
export class CachedKeyVerifier implements KeyVerifier {
  readonly #keys: KeyCache;
  #whole: Plans;
  #shares: Plans;
  #gateways: number;

  constructor(keys: KeyCache, plans: Plans, gateways: number) {
    this.#keys = keys;
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

  get gateways(): number {
    return this.#gateways;
  }

  set gateways(gateways: number) {
    this.#gateways = gateways;
    this.#shares = sharesOf(this.#whole, gateways);
  }

  /** The cache is read each time. */
  begin(): void {}

  /**
   * `unseen` also of a secret that is not cached, for it may be a newer one; and where the share of a window is
   * less than the request costs: that such a key is valid and within its limit can't be decided here.
   */
  verify(id: string, secretHash: string, nowMs: number, request: AdmissionRequest): ValidKey | UnknownReason {
    const record = this.#keys.key(id)?.record;
    if (record === undefined) return 'unseen';
    const reason = whyInvalid(record, secretHash, nowMs);
    if (reason !== undefined) return reason === 'unknown' ? 'unseen' : reason;
    const customerId = customerOf(id);
    const customer = customerId === null ? undefined : this.#keys.customer(customerId);
    if (customerId !== null && customer === undefined) return 'unseen';
    const terms = this.shareTerms(id, nowMs);
    if (terms !== undefined && !isEnough(terms, request)) return 'unseen';
    if (customer !== undefined) return validKeyOf(record, customer, terms);
    return terms === undefined ? 'no_plan' : { record, terms, customerId };
  }

  /** What binds a key or a customer here at `nowMs`: the share. */
  shareTerms(id: string, nowMs: number): Terms | undefined {
    const terms = this.wholeTerms(id, nowMs);
    return terms && shareOfTerms(terms, this.#shares.get(terms.plan), this.#gateways);
  }

  /** What binds it at `nowMs` while Redis decides. */
  wholeTerms(id: string, nowMs: number): Terms | undefined {
    const holder = this.#keys.holder(id);
    const terms = holder && termsOf(this.#whole, holder.plan, holder.limits);
    return terms && withGrants(terms, holder.grants, nowMs);
  }
}

/**
 * Whether every window of the share can hold the request at all. Of one that costs nothing only minute and day are
 * asked.
 */
function isEnough(terms: Terms, { operation, cost }: AdmissionRequest): boolean {
  const { minute, day } = terms.limits;
  const charged = costOf(terms.operations, operation, cost);
  const more = charged === 0 ? [] : windowsOf(terms, operation).map(({ limit }) => limit);
  return [minute, day, ...more].every((limit) => limit === 'unlimited' || limit >= Math.max(1, charged));
}
