import { setImmediate as immediate } from 'node:timers/promises';
import { engineOn } from '../embedded/engine.js';
import type { EmbeddedEngine } from '../embedded/engine.js';
import type { Stores } from '../embedded/files/stores.js';
import { transact } from '../embedded/log/transaction.js';
import type { Transaction } from '../embedded/log/transaction.js';
import { attempt } from '../embedded/files/errors.js';
import type { GreedyDay, Warned } from '../redis/spool.js';
import { settle, SHAPES } from '../../admission/bucket.js';
import { customerOf, payerOf } from '../records/customer-id.js';
import { StoreUnavailable } from '../../admission/port.js';
import type { AdmissionRequest } from '../../admission/port.js';
import type { Verdict } from '../../admission/verdict.js';
import { refillOf, windowsOf } from '../../admission/windows.js';
import type { CachedKeyVerifier } from './verifier.js';
import type { KeyCache } from './key-cache.js';
import { restrainBan, restrainBuckets } from './restrain.js';

/** What was counted here and is not in Redis yet must never go: the spool itself says what may. */
const USAGE_DAYS = 36_500;

/** Keys restrained in one transaction when an outage begins: it holds up admissions for a millisecond or so. */
const RESTRAINED_AT_ONCE = 200;

/** Decides here, by cached keys and shares, all processes of the machine together. */
export class Local {
  readonly engine: EmbeddedEngine;
  readonly #stores: Stores;
  readonly #keys: KeyCache;
  readonly #verifier: CachedKeyVerifier;
  readonly #tells: boolean;
  /** Keys that this process has brought near what Redis last showed. */
  readonly #restrained = new Set<string>();

  /** @param tells whether crossings are told as events: when Redis has the counts, not before */
  constructor(stores: Stores, keys: KeyCache, verifier: CachedKeyVerifier, tells: boolean) {
    this.engine = engineOn(stores, verifier, USAGE_DAYS);
    this.#stores = stores;
    this.#keys = keys;
    this.#verifier = verifier;
    this.#tells = tells;
  }

  /** Redis went away: from now on each limit is shared by so many. */
  begin(gateways: number): void {
    this.#verifier.gateways = gateways;
    this.#restrained.clear();
    void this.#restrainDecided();
  }

  /** Decides what can be decided here; rejects with StoreUnavailable, which holds that, when a key is not known. */
  async admit(requests: readonly AdmissionRequest[]): Promise<readonly Verdict[]> {
    await this.#restrainNew(requests);
    const verdicts = await this.engine.admit(requests);
    const decided = verdicts.map((verdict) => (isDecided(verdict) ? verdict : undefined));
    if (!decided.includes(undefined)) return verdicts;
    throw new StoreUnavailable(
      'Redis is away, and the key is not known here: its record was not seen in the last 24 hours, its secret may be newer, or its share of the limit is nothing.',
      { decided },
    );
  }

  /** How far the day of a key with greedy refill, or of its customer, is spent here; null of any other, and when the key is not known here. */
  greedyDay(keyId: string): GreedyDay | null {
    const { memtable } = this.#stores;
    memtable.refresh();
    const nowMs = Date.now();
    const share = this.#verifier.shareTerms(keyId, nowMs);
    const whole = this.#verifier.wholeTerms(keyId, nowMs);
    if (share?.refill !== 'greedy' || whole === undefined || whole.limits.day === 'unlimited') return null;
    const { day } = memtable.stateOf(payerOf(keyId));
    settle(day, SHAPES.day, share.limits.day, 'greedy', nowMs);
    return { limit: whole.limits.day, level: day.level };
  }

  /** What is warned of when counts of a key come into Redis; undefined where nothing is told, or the key is not known here. */
  warned(keyId: string): Warned | undefined {
    return this.#tells ? this.#verifier.warned(keyId, Date.now()) : undefined;
  }

  /** The operation's own windows per day and month that a key's requests for an operation take from; those that trickle left out. */
  windowsOf(keyId: string, operation: string): readonly string[] {
    const terms = this.#verifier.wholeTerms(keyId, Date.now());
    if (terms?.operations === undefined) return [];
    return windowsOf(terms, operation)
      .filter(({ name, per }) => name !== 'month' && per !== 'minute' && refillOf(per, terms.refill) === 'interval')
      .map(({ name }) => name);
  }

  /** What this process saw of a key binds all processes of the machine, whichever is asked: so it is shared at once, key by key. */
  async #restrainDecided(): Promise<void> {
    const keyIds = this.#keys.decidedKeyIds();
    for (let start = 0; start < keyIds.length; start += RESTRAINED_AT_ONCE) {
      const some = keyIds.slice(start, start + RESTRAINED_AT_ONCE).filter((keyId) => !this.#restrained.has(keyId));
      // A store that can't be written says so to whoever asks it next.
      await this.#restrainAll(some).catch(() => undefined);
      await immediate();
    }
  }

  async #restrainNew(requests: readonly AdmissionRequest[]): Promise<void> {
    const keyIds = new Set<string>();
    for (const { subject } of requests)
      if (subject.kind === 'key' && !this.#restrained.has(subject.id)) keyIds.add(subject.id);
    await this.#restrainAll([...keyIds]);
  }

  async #restrainAll(keyIds: readonly string[]): Promise<void> {
    if (keyIds.length === 0) return;
    await attempt(this.#stores, () =>
      transact(this.#stores, (transaction) => {
        for (const keyId of keyIds) this.#restrain(transaction, keyId);
      }),
    );
  }

  #restrain(transaction: Transaction, keyId: string): void {
    const key = this.#keys.read(keyId);
    const nowMs = Date.now();
    const terms = this.#verifier.shareTerms(keyId, nowMs);
    if (key === undefined || terms === undefined) return;
    this.#restrained.add(keyId);
    const last = this.#keys.lastVerdict(keyId);
    const customerId = customerOf(keyId);
    const payer = transaction.key(customerId ?? keyId);
    transaction.change(payer);
    // The figures are the customer's, whichever of its keys showed them.
    const figures = customerId === null ? last : this.#keys.lastVerdictOfCustomer(customerId);
    // A grant may have ended since.
    const then = figures && this.#verifier.shareTerms(keyId, figures.verdict.atMs);
    restrainBuckets(payer.state, terms, figures, this.#verifier.gateways, nowMs, then);
    const entry = transaction.key(keyId);
    transaction.change(entry);
    restrainBan(entry.state, last, key, nowMs);
  }
}

function isDecided(verdict: Verdict): boolean {
  return verdict.outcome !== 'unknown_key' || verdict.reason !== 'unseen';
}
