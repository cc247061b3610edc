import { setImmediate as immediate } from 'node:timers/promises';
import { engineOn, type EmbeddedEngine } from '../embedded/engine.js';
import type { Stores } from '../embedded/owner/stores.js';
import { transact, type Transaction } from '../embedded/owner/transaction.js';
import { attempt } from '../embedded/files/errors.js';
import { liftSome } from '../embedded/records/bans.js';
import { payerOf } from '../records/customer-id.js';
import { StoreUnavailable } from '../../admission/port.js';
import type { Verdict } from '../../admission/verdict.js';
import type { CachedKeyVerifier } from './verifier.js';
import type { KeyCache } from './key-cache.js';
import { applyBan, applyShare } from './apply-share.js';

/** Keeps the sweep from deleting counts: the spool deletes them once Redis has them. */
const USAGE_DAYS = 36_500;

/** Keys charged per transaction when an outage begins: delays admissions by about a millisecond. */
const APPLIED_AT_ONCE = 200;

/** Decides in outage mode, with copied keys and shares of their limits. */
export interface Local {
  readonly engine: EmbeddedEngine;
  /** Begins an outage, in which `gateways` share each limit. */
  begin(gateways: number): void;
  /** Ends an outage: lifts the bans here, because Redis decides again. */
  end(): Promise<void>;
  /** Decides what it can. If a key is unknown here, rejects with StoreUnavailable, which has the other verdicts. */
  admit: EmbeddedEngine['admit'];
}

/** @param now the last known time of the store's clock */
export function localOn(stores: Stores, keys: KeyCache, verifier: CachedKeyVerifier, now: () => number): Local {
  const engine = engineOn(stores, verifier, USAGE_DAYS, false, now);
  const { verdicts } = keys;
  /** Keys already charged with what Redis last showed. */
  const applied = new Set<string>();
  const apply = (transaction: Transaction, keyId: string): void => {
    const key = keys.key(keyId);
    const nowMs = now();
    const terms = verifier.shareTerms(keyId, nowMs);
    if (key === undefined || terms === undefined) return;
    applied.add(keyId);
    const payer = transaction.key(payerOf(keyId));
    transaction.change(payer);
    // A customer's keys share its figures.
    applyShare(payer.state, terms, verdicts.of(payer.id), verifier.gateways, nowMs);
    const entry = transaction.key(keyId);
    transaction.change(entry);
    applyBan(entry.state, verdicts.of(keyId), key, nowMs, Date.now());
  };
  const applyTo = async (keyIds: readonly string[]): Promise<void> => {
    const fresh = new Set(keyIds.filter((keyId) => !applied.has(keyId)));
    if (fresh.size === 0) return;
    await attempt(stores, () =>
      transact(stores, (transaction) => {
        for (const keyId of fresh) apply(transaction, keyId);
      }),
    );
  };
  const applyToAll = async (): Promise<void> => {
    const ids = verdicts.keyIds();
    for (let start = 0; start < ids.length; start += APPLIED_AT_ONCE) {
      // A store that cannot be written reports it at the next call.
      await applyTo(ids.slice(start, start + APPLIED_AT_ONCE)).catch(() => undefined);
      await immediate();
    }
  };
  return {
    engine,
    begin(gateways) {
      verifier.gateways = gateways;
      applied.clear();
      void applyToAll();
    },
    async end() {
      while (await liftSome(stores, APPLIED_AT_ONCE)) await immediate();
    },
    async admit(requests) {
      await applyTo(requests.flatMap(({ subject }) => (subject.kind === 'key' ? subject.id : [])));
      const decided = (await engine.admit(requests)).map((verdict) => {
        if (verdict.outcome !== 'unknown_key') return { ...verdict, local: true } as const;
        return verdict.reason === 'unseen' ? undefined : verdict;
      });
      if (!decided.includes(undefined)) return decided as Verdict[];
      throw new StoreUnavailable(
        'Redis is unavailable, and the key is not known here: its record was not seen in the last 24 hours, its ' +
          'secret may be newer, or the share of its limit is too small.',
        { decided },
      );
    },
  };
}
