import type { KeyVerifier, GoodKey } from '../engines/embedded/keys/verifier.js';
import { goodOf, unfitness } from '../engines/embedded/keys/verifier.js';
import { customerOf } from '../customers/id.js';
import type { KeyRecord } from '../key-record.js';
import { termsOf } from '../plan.js';
import type { Plans, Terms } from '../plan.js';
import type { AdmissionRequest } from '../port.js';
import type { Limit } from '../bucket.js';
import type { UnknownReason } from '../verdict.js';
import { costOf, hasMore, windowsOf } from '../windows.js';
import type { KeyCache } from './key-cache.js';
import { shareOf, sharesOf } from './shares.js';

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
    if (gateways === this.#gateways) return;
    this.#gateways = gateways;
    this.#shares = sharesOf(this.#whole, gateways);
  }

  /** What is cached is read anew each time. */
  begin(): void {}

  /**
   * `unseen` also of a secret that is not cached, for it may be a newer one; and where the share of a window is
   * less than the request costs: that such a key is good and within its limit can't be decided here.
   */
  verify(id: string, secretHash: string, nowMs: number, request: AdmissionRequest): GoodKey | UnknownReason {
    const key = this.#keys.read(id);
    if (key === undefined) return 'unseen';
    const reason = unfitness(key.record, secretHash, nowMs);
    if (reason !== undefined) return reason === 'unknown' ? 'unseen' : reason;
    const good = this.#good(key.record);
    return typeof good === 'string' || isEnough(good.terms, request) ? good : 'unseen';
  }

  /** What binds a key or a customer here: the share. */
  shareTerms(id: string): Terms | undefined {
    const holder = this.#keys.holder(id);
    return holder && this.#shareOf(holder);
  }

  /** What binds it while Redis decides. */
  wholeTerms(id: string): Terms | undefined {
    const holder = this.#keys.holder(id);
    return holder && termsOf(this.#whole, holder.plan, holder.limits);
  }

  #good(record: KeyRecord): GoodKey | UnknownReason {
    const customerId = customerOf(record.id);
    if (customerId !== null) {
      const customer = this.#keys.customer(customerId);
      return customer === undefined ? 'unseen' : goodOf(record, customer, this.#shareOf(customer));
    }
    const terms = this.#shareOf(record);
    return terms === undefined ? 'no_plan' : { record, terms, customerId };
  }

  #shareOf({ plan, limits }: Pick<KeyRecord, 'plan' | 'limits'>): Terms | undefined {
    return termsOf(this.#shares, plan, limits === null ? null : shareOf(limits, this.#gateways));
  }
}

/** Whether every window of the share can hold the request at all. Of one that costs nothing only minute and day are asked. */
function isEnough(terms: Terms, { operation, cost }: AdmissionRequest): boolean {
  const { minute, day } = terms.limits;
  const charged = costOf(terms.operations, operation, cost);
  const holds = (limit: Limit): boolean => limit === 'unlimited' || limit >= Math.max(1, charged);
  if (!holds(minute) || !holds(day)) return false;
  return charged === 0 || !hasMore(terms) || windowsOf(terms, operation).every(({ limit }) => holds(limit));
}
