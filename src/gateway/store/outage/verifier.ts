import type { KeyVerifier, GoodKey } from '../embedded/records/verifier.js';
import { goodOf, unfitness } from '../embedded/records/verifier.js';
import { customerOf } from '../records/customer-id.js';
import type { Warned } from '../redis/spool.js';
import { sharedEnds } from '../../admission/grant-ends.js';
import { withGrants } from '../records/grant.js';
import type { KeyRecord } from '../records/key.js';
import { termsOf, WARN_AT } from '../../admission/plan.js';
import type { Plans, Terms } from '../../admission/plan.js';
import type { AdmissionRequest } from '../../admission/port.js';
import type { Limit } from '../../admission/bucket.js';
import type { UnknownReason } from '../../admission/verdict.js';
import { costOf, hasMore, windowsOf } from '../../admission/windows.js';
import type { KeyCache } from './key-cache.js';
import { partOf, shareOf, sharesOf } from './shares.js';

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
    const good = this.#good(key.record, nowMs);
    return typeof good === 'string' || isEnough(good.terms, request) ? good : 'unseen';
  }

  /** What binds a key or a customer here at `nowMs`: the share. */
  shareTerms(id: string, nowMs: number): Terms | undefined {
    const holder = this.#keys.holder(id);
    return holder && this.#shareOf(holder, nowMs);
  }

  /** What binds it at `nowMs` while Redis decides. */
  wholeTerms(id: string, nowMs: number): Terms | undefined {
    const holder = this.#keys.holder(id);
    return holder && this.#wholeOf(holder, nowMs);
  }

  /** What is warned of while Redis decides: of a key, or of its customer. */
  warned(id: string, nowMs: number): Warned | undefined {
    const terms = this.wholeTerms(id, nowMs);
    if (terms === undefined) return undefined;
    const { plan, limits } = terms;
    return { at: this.#whole.get(plan)?.warnAt ?? WARN_AT, plan, limits };
  }

  #good(record: KeyRecord, nowMs: number): GoodKey | UnknownReason {
    const customerId = customerOf(record.id);
    if (customerId !== null) {
      const customer = this.#keys.customer(customerId);
      return customer === undefined ? 'unseen' : goodOf(record, customer, this.#shareOf(customer, nowMs));
    }
    const terms = this.#shareOf(record, nowMs);
    return terms === undefined ? 'no_plan' : { record, terms, customerId };
  }

  /** Shared is what holds in the end, so that no unit of a grant is lost to rounding twice. */
  #shareOf(holder: Holder, nowMs: number): Terms | undefined {
    const { plan, limits, grants } = holder;
    const terms = termsOf(this.#shares, plan, limits === null ? null : shareOf(limits, this.#gateways));
    if (terms === undefined || grants === undefined) return terms;
    const whole = this.#wholeOf(holder, nowMs);
    if (whole?.ends === undefined) return terms;
    const ends = sharedEnds(whole.ends, (limit) => partOf(limit, this.#gateways));
    return { ...terms, limits: shareOf(whole.limits, this.#gateways), ends };
  }

  #wholeOf({ plan, limits, grants }: Holder, nowMs: number): Terms | undefined {
    const terms = termsOf(this.#whole, plan, limits);
    return terms && withGrants(terms, grants, nowMs);
  }
}

/** Whose plan and limits bind: a key, or a customer. */
type Holder = Pick<KeyRecord, 'plan' | 'limits' | 'grants'>;

/** Whether every window of the share can hold the request at all. Of one that costs nothing only minute and day are asked. */
function isEnough(terms: Terms, { operation, cost }: AdmissionRequest): boolean {
  const { minute, day } = terms.limits;
  const charged = costOf(terms.operations, operation, cost);
  const holds = (limit: Limit): boolean => limit === 'unlimited' || limit >= Math.max(1, charged);
  if (!holds(minute) || !holds(day)) return false;
  return charged === 0 || !hasMore(terms) || windowsOf(terms, operation).every(({ limit }) => holds(limit));
}
