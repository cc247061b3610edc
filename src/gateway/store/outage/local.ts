import { setImmediate as immediate } from 'node:timers/promises';
import { engineOn, type EmbeddedEngine } from '../embedded/engine.js';
import type { Stores } from '../embedded/owner/stores.js';
import { transact, type Transaction } from '../embedded/owner/transaction.js';
import { attempt } from '../embedded/files/errors.js';
import { liftSome } from '../embedded/records/bans.js';
import { payerOf } from '../records/customer-id.js';
import { StoreUnavailable, type AdmissionRequest } from '../../admission/port.js';
import type { Verdict } from '../../admission/verdict.js';
import type { CachedKeyVerifier } from './verifier.js';
import type { KeyCache } from './key-cache.js';
import { applyBan, applyShare } from './apply-share.js';

/** Keeps the sweep from deleting counts: the spool deletes them once Redis has them. */
const USAGE_DAYS = 36_500;

/** Keys charged per transaction when an outage begins: delays admissions by about a millisecond. */
const APPLIED_AT_ONCE = 200;

/** Decides in outage mode, with copied keys and shares of their limits. */
export class Local {
  readonly engine: EmbeddedEngine;
  readonly #stores: Stores;
  readonly #keys: KeyCache;
  readonly #verifier: CachedKeyVerifier;
  /** Keys already charged with what Redis last showed. */
  readonly #applied = new Set<string>();

  readonly #now: () => number;

  /** @param now the last known time of the store's clock */
  constructor(stores: Stores, keys: KeyCache, verifier: CachedKeyVerifier, now: () => number) {
    this.engine = engineOn(stores, verifier, USAGE_DAYS, false, now);
    this.#now = now;
    this.#stores = stores;
    this.#keys = keys;
    this.#verifier = verifier;
  }

  /** Begins an outage, in which `gateways` share each limit. */
  begin(gateways: number): void {
    this.#verifier.gateways = gateways;
    this.#applied.clear();
    void this.#applyToAll();
  }

  /** Ends an outage: lifts the bans here, because Redis decides again. */
  async end(): Promise<void> {
    while (await liftSome(this.#stores, APPLIED_AT_ONCE)) await immediate();
  }

  /** Decides what it can. If a key is unknown here, rejects with StoreUnavailable, which has the other verdicts. */
  async admit(requests: readonly AdmissionRequest[]): Promise<readonly Verdict[]> {
    await this.#applyTo(requests.flatMap(({ subject }) => (subject.kind === 'key' ? subject.id : [])));
    const verdicts = await this.engine.admit(requests);
    const decided = verdicts.map((verdict) => (isDecided(verdict) ? asLocal(verdict) : undefined));
    if (!decided.includes(undefined)) return decided as Verdict[];
    throw new StoreUnavailable(
      'Redis is unavailable, and the key is not known here: its record was not seen in the last 24 hours, its ' +
        'secret may be newer, or the share of its limit is too small.',
      { decided },
    );
  }

  async #applyToAll(): Promise<void> {
    const ids = this.#keys.verdicts.keyIds();
    for (let start = 0; start < ids.length; start += APPLIED_AT_ONCE) {
      // A store that cannot be written reports it at the next call.
      await this.#applyTo(ids.slice(start, start + APPLIED_AT_ONCE)).catch(() => undefined);
      await immediate();
    }
  }

  async #applyTo(keyIds: readonly string[]): Promise<void> {
    const fresh = new Set(keyIds.filter((keyId) => !this.#applied.has(keyId)));
    if (fresh.size === 0) return;
    await attempt(this.#stores, () =>
      transact(this.#stores, (transaction) => {
        for (const keyId of fresh) this.#apply(transaction, keyId);
      }),
    );
  }

  #apply(transaction: Transaction, keyId: string): void {
    const key = this.#keys.key(keyId);
    const nowMs = this.#now();
    const terms = this.#verifier.shareTerms(keyId, nowMs);
    if (key === undefined || terms === undefined) return;
    this.#applied.add(keyId);
    const { verdicts } = this.#keys;
    const payer = transaction.key(payerOf(keyId));
    transaction.change(payer);
    // A customer's keys share its figures.
    applyShare(payer.state, terms, verdicts.of(payer.id), this.#verifier.gateways, nowMs);
    const entry = transaction.key(keyId);
    transaction.change(entry);
    applyBan(entry.state, verdicts.of(keyId), key, nowMs, Date.now());
  }
}

function asLocal(verdict: Verdict): Verdict {
  return verdict.outcome === 'unknown_key' ? verdict : { ...verdict, local: true };
}

function isDecided(verdict: Verdict): boolean {
  return verdict.outcome !== 'unknown_key' || verdict.reason !== 'unseen';
}
