import type { KeyVerifier, GoodKey } from '../engines/embedded/keys/verifier.js';
import { unfitness } from '../engines/embedded/keys/verifier.js';
import { termsOf } from '../plan.js';
import type { Plans, Terms } from '../plan.js';
import type { AdmissionRequest } from '../port.js';
import type { Limit } from '../bucket.js';
import type { UnknownReason } from '../verdict.js';
import { costOf, hasMore, windowsOf } from '../windows.js';
import type { CachedKey, KeyCache } from './key-cache.js';
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
    const terms = this.shareOf(key);
    if (terms === undefined) return 'no_plan';
    return isEnough(terms, request) ? { record: key.record, terms } : 'unseen';
  }

  /** What binds the key here. */
  shareOf({ record }: CachedKey): Terms | undefined {
    return termsOf(this.#shares, record.plan, record.limits === null ? null : shareOf(record.limits, this.#gateways));
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
