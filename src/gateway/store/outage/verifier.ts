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

  /** Returns the plans with this gateway's share of each limit; set it to the plans with whole limits. */
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

  /**
   * Also returns `unseen` for a secret that is not cached, which may be newer, if the request costs more than this
   * gateway's share of a window, and if it is not known how much of a balance is spent: only Redis knows whether the
   * request is within the limit.
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
    if (terms !== undefined && !(isEnough(terms, request) && this.#hasSeen(terms, customerId ?? id))) return 'unseen';
    if (customer !== undefined) return validKeyOf(record, customer, terms);
    return terms === undefined ? 'no_plan' : { record, terms, customerId };
  }

  #hasSeen({ limits: { balance } }: Terms, payer: string): boolean {
    return balance === undefined || this.#keys.verdicts.of(payer)?.windows.has('balance') === true;
  }

  /** Returns the terms of a key or customer at `nowMs`, with this gateway's share of each limit. */
  shareTerms(id: string, nowMs: number): Terms | undefined {
    const terms = this.wholeTerms(id, nowMs);
    return terms && shareOfTerms(terms, this.#shares.get(terms.plan), this.#gateways);
  }

  /** Returns the terms of a key or customer at `nowMs`, with whole limits. */
  wholeTerms(id: string, nowMs: number): Terms | undefined {
    const holder = this.#keys.holder(id);
    const terms = holder && termsOf(this.#whole, holder.plan, holder.limits, holder.credited);
    return terms && withGrants(terms, holder.grants, nowMs);
  }
}

/** Returns whether every window can hold the request when empty. For a free request only minute and day matter. */
function isEnough(terms: Terms, { operation, cost }: AdmissionRequest): boolean {
  const { minute, day } = terms.limits;
  const charged = costOf(terms.operations, operation, cost);
  const more = charged === 0 ? [] : windowsOf(terms, operation).map(({ limit }) => limit);
  return [minute, day, ...more].every((limit) => limit === 'unlimited' || limit >= Math.max(1, charged));
}
